import { describe, expect, test } from 'vitest';
import { createScreen, type ScreenClock } from '../../src/cli/screen.ts';

const wipe = '\r\u001b[2K';

/** A screen with a clock that stands still until it is moved. */
function setup({
  isTTY = true,
  env = {},
  columns = 80,
}: {
  isTTY?: boolean;
  env?: Record<string, string>;
  columns?: number;
} = {}) {
  const writes: string[] = [];
  let now = 0;
  let due: { at: number; run: () => void } | undefined;
  const clock: ScreenClock = {
    now: () => now,
    later(run, ms) {
      due = { at: now + ms, run };
      return () => {
        due = undefined;
      };
    },
  };
  const screen = createScreen(
    { stderr: { isTTY, columns, write: (text) => writes.push(text) }, env },
    clock,
  );
  const advance = (ms: number): void => {
    now += ms;
    if (due === undefined || due.at > now) return;
    const { run } = due;
    due = undefined;
    run();
  };
  return { screen, writes, advance };
}

describe('progress', () => {
  test('is a bar where the total is known, else a spinner', () => {
    const { screen, writes, advance } = setup();
    screen.progress({ tool: 'copy', done: 5, total: 10, message: 'half' });
    advance(100);
    screen.progress({ tool: 'copy', done: 5 });
    advance(100);
    screen.progress({ tool: 'copy', done: 6, message: 'more' });
    expect(writes).toEqual([
      `${wipe}[##########..........] 50% copy 5/10 half`,
      `${wipe}\\ copy 5`,
      `${wipe}| copy 6 more`,
    ]);
  });

  test('is drawn ten times a second at most, and the last state is drawn', () => {
    const { screen, writes, advance } = setup();
    for (let done = 1; done <= 1_000; done++) {
      screen.progress({ tool: 'copy', done, total: 1_000 });
      advance(1);
    }
    expect(writes.length).toBeLessThanOrEqual(11);
    advance(100);
    expect(writes.at(-1)).toContain('copy 1000/1000');
  });

  test.each([
    [12, 10, '[####################] 100%'],
    [-1, 10, '[....................] 0%'],
    [3, 0, '- copy 3'],
  ])('%d of %d is %s', (done, total, shown) => {
    const { screen, writes } = setup();
    screen.progress({ tool: 'copy', done, total });
    expect(writes[0]?.startsWith(wipe + shown)).toBe(true);
  });

  test('never wraps: it is one short of the width', () => {
    const { screen, writes } = setup({ columns: 20 });
    screen.progress({ tool: 'copy', done: 1, message: 'x'.repeat(100) });
    expect(writes[0]).toHaveLength(wipe.length + 19);
  });

  test('a terminal that says that it has no columns has eighty', () => {
    const { screen, writes } = setup({ columns: 0 });
    screen.progress({ tool: 'copy', done: 1, message: 'x'.repeat(100) });
    expect(writes[0]).toHaveLength(wipe.length + 79);
  });

  test.each([
    ['without a terminal', { isTTY: false }],
    ['on a terminal that cannot draw over a line', { env: { TERM: 'dumb' } }],
  ])('is not shown %s', (_, options) => {
    const { screen, writes } = setup(options);
    screen.progress({ tool: 'copy', done: 1 });
    screen.clear();
    expect(writes).toEqual([]);
  });

  test('is wiped before a note, and what was waiting to be drawn is not drawn after it', () => {
    const { screen, writes, advance } = setup();
    screen.progress({ tool: 'copy', done: 1 });
    screen.progress({ tool: 'copy', done: 2 });
    screen.note('said');
    advance(1_000);
    expect(writes).toEqual([`${wipe}- copy 1`, wipe, 'said\n']);
  });
});

describe('notes', () => {
  test('are one line each, and wait while a question is open', () => {
    const { screen, writes } = setup();
    const answered = screen.ask('Really? ');
    screen.note('one\ntwo\u001b[2J');
    screen.progress({ tool: 'copy', done: 1 });
    expect(writes).toEqual(['Really? ']);
    answered(false);
    expect(writes).toEqual(['Really? ', '\n', 'one\\ntwo\\u{1b}[2J\n']);
  });

  test('progress continues after the answer', () => {
    const { screen, writes, advance } = setup();
    const answered = screen.ask('Really? ');
    answered(true);
    screen.progress({ tool: 'copy', done: 1 });
    advance(100);
    expect(writes).toEqual(['Really? ', `${wipe}- copy 1`]);
  });
});

test.each([
  [{}, '\u001b[1mtitle\u001b[22m'],
  [{ isTTY: false }, 'title'],
  [{ env: { NO_COLOR: '1' } }, 'title'],
  [{ env: { NO_COLOR: '' } }, '\u001b[1mtitle\u001b[22m'],
  [{ env: { TERM: 'dumb' } }, 'title'],
])('emphasis with %j is %j', (options, shown) => {
  expect(setup(options).screen.strong('title')).toBe(shown);
});
