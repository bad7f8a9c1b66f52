/** When a connection is opened, and when it is not. */
import { describe, expect, test } from 'vitest';
import { createConnection } from '../../../../src/surfaces/mcp/client/connection.ts';
import type { Link } from '../../../../src/surfaces/mcp/client/link.ts';

function world({
  chance = 0,
  reopen = true,
  greet = async () => {},
}: {
  chance?: number;
  reopen?: boolean;
  greet?: () => Promise<void>;
} = {}) {
  const clock = { at: 0, now: () => clock.at, random: () => chance };
  const opened: (Link & { lose(): void; closed: boolean })[] = [];
  const state = { fails: false };
  const open = async (): Promise<Link> => {
    if (state.fails) throw new Error('refused');
    const link = {
      client: {} as never,
      lost: false,
      closed: false,
      onlost: undefined as (() => void) | undefined,
      lose: () => {
        link.lost = true;
        link.onlost?.();
      },
      drop: () => link.lose(),
      close: async () => {
        link.lost = true;
        link.closed = true;
      },
    };
    opened.push(link);
    return link;
  };
  return { clock, opened, state, connection: createConnection({ open, greet, clock, reopen }) };
}

const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.then(() => 'open').catch((error: Error) => error.message);

describe('a connection', () => {
  test('is opened once, however many ask', async () => {
    const { connection, opened } = world();
    await Promise.all([connection.link(), connection.link(), connection.link()]);
    expect(opened).toHaveLength(1);
  });

  test('lost after a good life, is opened again at once', async () => {
    const { connection, opened, clock } = world();
    await connection.link();
    clock.at = 10_000;
    opened[0]?.lose();
    expect([await outcome(connection.link()), opened.length]).toEqual(['open', 2]);
  });

  test('lost again and again, waits longer each time, at most 30 s', async () => {
    const { connection, opened, clock } = world();
    const waits: number[] = [];
    for (let turn = 0; turn < 10; turn++) {
      const before = clock.at;
      while ((await outcome(connection.link())) !== 'open') clock.at += 50;
      waits.push(clock.at - before);
      opened.at(-1)?.lose();
    }
    // Half of each pause is chance, and there was none.
    expect(waits).toEqual([0, 0, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
  });

  test('that cannot be opened fails at once during the pause, with the rest of it', async () => {
    const { connection, state, clock } = world({ chance: 0.999_999 });
    state.fails = true;
    expect(await outcome(connection.link())).toBe('refused');
    expect(await outcome(connection.link())).toBe(
      'The MCP server cannot be reached. Try again in 1 second.',
    );
    clock.at = 500;
    state.fails = false;
    expect(await outcome(connection.link())).toBe('open');
  });

  test('whose greeting fails is closed', async () => {
    const { connection, opened } = world({
      greet: async () => Promise.reject(new Error('hostile')),
    });
    expect([await outcome(connection.link()), opened[0]?.closed]).toEqual(['hostile', true]);
  });

  test('of the host is not opened again', async () => {
    const { connection, opened } = world({ reopen: false });
    await connection.link();
    opened[0]?.lose();
    expect(await outcome(connection.link())).toMatch(/host must connect/);
  });

  test('that is closed stays closed, also what was being opened', async () => {
    let go = (): void => {};
    const { connection, opened } = world({
      greet: () =>
        new Promise((resolve) => {
          go = resolve;
        }),
    });
    const opening = outcome(connection.link());
    await new Promise((resolve) => setImmediate(resolve));
    const closing = connection.close();
    go();
    expect([await opening, await closing, opened[0]?.closed]).toEqual([
      expect.stringMatching(/lost|closed/),
      undefined,
      true,
    ]);
    expect(await outcome(connection.link())).toMatch(/closed/);
    await connection.close();
  });
});
