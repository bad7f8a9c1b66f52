/** Sandboxes without a call are asked for a sign of life, and are taken only if they owe none. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Cell } from '../../../src/executors/sandbox/cell.ts';
import { IdleCells } from '../../../src/executors/sandbox/idle-cells.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A sandbox that writes down what it is asked and answers when the test says so. */
function fake() {
  const answers: (() => void)[] = [];
  const ends: string[] = [];
  const cell = {
    ask: (answered: () => void) => void answers.push(answered),
    kill: (_reason: string, text: string) => void ends.push(text),
  } as unknown as Cell;
  return { cell, answers, ends };
}

test('calls that follow each other take the same sandbox, and it is asked nothing', () => {
  const idle = new IdleCells(() => expect.unreachable());
  const { cell, answers } = fake();
  for (let call = 0; call < 100; call++) {
    idle.add(cell, undefined);
    vi.advanceTimersByTime(10);
    expect(idle.take()).toBe(cell);
  }
  expect([idle.size, answers.length]).toEqual([0, 0]);
});

test('one that rests is asked, is not taken while it owes the answer, and then is', () => {
  const well: Cell[] = [];
  const idle = new IdleCells((cell) => void well.push(cell));
  const { cell, answers } = fake();
  idle.add(cell, undefined);
  vi.advanceTimersByTime(60);
  expect([answers.length, idle.size, idle.take()]).toEqual([1, 0, undefined]);
  answers[0]?.();
  expect([well, idle.size]).toEqual([[cell], 1]);
  // The same answer again says nothing.
  answers[0]?.();
  expect([well.length, idle.size, idle.take(), idle.size]).toEqual([1, 1, cell, 0]);
});

test('the one that had a call last is taken first, and others where it owes an answer', () => {
  const idle = new IdleCells(() => {});
  const [first, second] = [fake(), fake()];
  idle.add(first.cell, undefined);
  idle.add(second.cell, undefined);
  expect(idle.take()).toBe(second.cell);
  vi.advanceTimersByTime(60);
  idle.add(second.cell, undefined);
  expect(first.answers.length).toBe(1);
  expect(idle.take()).toBe(second.cell);
  expect(idle.take()).toBe(undefined);
});

test('one that has answered is asked again after some seconds, and not before', () => {
  const idle = new IdleCells(() => {});
  const { cell, answers } = fake();
  idle.add(cell, undefined);
  vi.advanceTimersByTime(60);
  answers[0]?.();
  vi.advanceTimersByTime(4_000);
  expect(answers.length).toBe(1);
  vi.advanceTimersByTime(7_000);
  expect(answers.length).toBe(2);
});

test('others that come and go do not keep one from being asked again', () => {
  const idle = new IdleCells(() => {});
  const [kept, busy] = [fake(), fake()];
  idle.add(kept.cell, undefined);
  vi.advanceTimersByTime(60);
  kept.answers[0]?.();
  for (let call = 0; call < 1_000; call++) {
    idle.add(busy.cell, undefined);
    vi.advanceTimersByTime(10);
    idle.remove(busy.cell);
  }
  expect(kept.answers.length).toBe(2);
});

test('one beyond the spare ones ends after its time, and one that was taken does not', () => {
  const idle = new IdleCells(() => {});
  const [one, other] = [fake(), fake()];
  idle.add(one.cell, 1_000);
  idle.add(other.cell, 1_000);
  expect(idle.take()).toBe(other.cell);
  vi.advanceTimersByTime(2_000);
  expect([one.ends, other.ends]).toEqual([['had nothing to do'], []]);
  expect([idle.remove(one.cell), idle.remove(one.cell), idle.size]).toEqual([true, false, 0]);
});

test('with none left, no timer is left', () => {
  const idle = new IdleCells(() => {});
  const { cell } = fake();
  idle.add(cell, undefined);
  idle.remove(cell);
  vi.advanceTimersByTime(60);
  expect(vi.getTimerCount()).toBe(0);
});
