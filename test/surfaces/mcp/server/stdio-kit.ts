/** A server over stdio, spoken to in lines. */
import { PassThrough } from 'node:stream';
import { expect } from 'vitest';
import type { HostToolRegistry } from '../../../../src/index.ts';
import { type McpStdioOptions, serveMcpStdio } from '../../../../src/surfaces/mcp/index.ts';
import { initializeParams, type Opened, sampleRegistry } from './kit.ts';

/** A server over two pipes, spoken to in lines. */
export function pipedServer(
  open: Opened,
  registry: HostToolRegistry = sampleRegistry(),
  options: McpStdioOptions = {},
) {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const session = registry.createSession({ sessionId: 's' });
  const served = serveMcpStdio(session, {
    name: 'piped',
    version: '2.0.0',
    instructions: 'Be kind.',
    stdin,
    stdout,
    ...options,
  });
  open.defer(async () => {
    await served.close();
    await registry.close();
  });
  const lines: unknown[] = [];
  const waiters: (() => void)[] = [];
  let text = '';
  stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n')) {
      lines.push(JSON.parse(text.slice(0, at)));
      text = text.slice(at + 1);
      for (const wake of waiters.splice(0)) wake();
    }
  });
  return {
    session,
    served,
    stdin,
    lines,
    send: (...messages: unknown[]) =>
      stdin.write(
        messages.map((one) => `${typeof one === 'string' ? one : JSON.stringify(one)}\n`).join(''),
      ),
    /** The next line that is like this. */
    async next(like: object): Promise<Record<string, never>> {
      for (;;) {
        const found = lines.findIndex((line) => {
          try {
            expect(line).toMatchObject(like);
            return true;
          } catch {
            return false;
          }
        });
        if (found !== -1) return lines.splice(found, 1)[0] as Record<string, never>;
        await new Promise<void>((resolve) => waiters.push(resolve));
      }
    },
    async handshake(protocolVersion = '2025-11-25') {
      this.send({
        jsonrpc: '2.0',
        id: 'init',
        method: 'initialize',
        params: { ...initializeParams, protocolVersion },
      });
      const answer = await this.next({ id: 'init' });
      this.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      return answer;
    },
  };
}

/** A call of `echo`. */
export const echoCall = (id: unknown, text: string) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'echo', arguments: { text } },
});
