/** Tools with `task` over standard input, where no call becomes a task. */
import { afterEach, describe, expect, test } from 'vitest';
import { eras, initializeParams, opened } from './kit.ts';
import { pipedServer } from './stdio-kit.ts';
import { knowsTasks, taskRegistry } from './task-kit.ts';

const open = opened();
afterEach(() => open.close());

describe.each([
  ['that knows tasks', knowsTasks],
  ['that does not', { elicitation: {} }],
])('a client %s', (_who, capabilities) => {
  test.each(eras)(
    '%s era: gets what may be a task as a result, and never what must be',
    async (era) => {
      const slow: { end(text: string): void }[] = [];
      const world = pipedServer(open, taskRegistry(undefined, { slow: slow as never, sent: [] }));
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': capabilities,
        'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
      };
      const ask = async (id: number, method: string, params: object = {}) => {
        const all = era === 'modern' ? { ...params, _meta } : params;
        world.send({ jsonrpc: '2.0', id, method, params: all });
        return world.next({ id });
      };
      if (era === 'legacy') await ask(0, 'initialize', { ...initializeParams, capabilities });
      const { result } = (await ask(1, 'tools/list')) as unknown as {
        result: { tools: { name: string }[] };
      };
      const names = result.tools.map(({ name }) => name);
      expect(names).toContain('slow_optional');
      expect(names).not.toContain('slow_required');
      expect(await ask(2, 'tools/call', { name: 'slow_required', arguments: {} })).toMatchObject({
        error: {
          code: -32_602,
          message: expect.stringContaining(
            '`slow_required` only runs as a task, and this server makes none.',
          ),
        },
      });
      expect(slow).toEqual([]);
      const answer = ask(3, 'tools/call', { name: 'slow_optional', arguments: {} });
      await expect.poll(() => slow.length).toBe(1);
      slow[0]?.end('late');
      expect(await answer).toMatchObject({ result: { content: [{ text: 'late' }] } });
      expect(await ask(4, 'tasks/get', { taskId: 'x' })).toMatchObject({
        error: { code: -32_601 },
      });
    },
  );
});
