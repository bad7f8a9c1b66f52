/** A process over stdio with a tool that never ends. */
import { defineTool } from '../../src/index.ts';
import { serveMcpStdio } from '../../src/mcp.ts';
import { anything, sampleRegistry } from './server-kit.ts';

const registry = sampleRegistry();
registry.register(defineTool({ name: 'waits', description: 'Waits.', parameters: anything, handler: () => new Promise(() => {}) }));
await serveMcpStdio(registry.createSession({ sessionId: 'child' }), { graceMs: 200 }).closed;
await registry.close();
process.stdout.write('closed\n');
