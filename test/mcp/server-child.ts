/** A process that serves the sample tools over stdio. */
import { serveMcpStdio } from '../../src/mcp.ts';
import { sampleRegistry } from './server-kit.ts';

const registry = sampleRegistry();
await serveMcpStdio(registry.createSession({ sessionId: 'child' })).closed;
await registry.close();
