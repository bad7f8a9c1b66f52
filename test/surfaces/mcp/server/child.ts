/** A process that serves the sample tools over stdio. */
import { serveMcpStdio } from '../../../../src/surfaces/mcp/index.ts';
import { sampleRegistry } from './kit.ts';

const registry = sampleRegistry();
await serveMcpStdio(registry.createSession({ sessionId: 'child' })).closed;
await registry.close();
