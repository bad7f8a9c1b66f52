/** Calls as trees, also of lines that anybody may have written. */
import { describe, expect, test } from 'vitest';
import {
  type CallNode,
  isProgram,
  nodeIn,
  treeOf,
} from '../../../src/surfaces/pages/browser/inspector/call-nodes.ts';
import type { CallLine } from '../../../src/surfaces/pages/inspector-wire.ts';

let n = 0;
const line = (callId: string, parentCallId?: string, more: Partial<CallLine> = {}): CallLine => ({
  n: ++n,
  at: 0,
  callId,
  attempt: 1,
  tool: 't',
  sessionId: 's',
  principal: '',
  surface: parentCallId !== undefined && callId.startsWith(`${parentCallId}/`) ? 'code' : '',
  preview: '',
  phase: 'ended',
  ...(parentCallId === undefined ? {} : { parentCallId }),
  ...more,
});
const textOf = ({ line: { callId, attempt }, children, more }: CallNode): string =>
  callId +
  (attempt === 1 ? '' : `(${attempt})`) +
  (children.length === 0 ? '' : ` [${children.map(textOf).join(', ')}]`) +
  (more === 0 ? '' : ` +${more}`);
const drawn = (lines: readonly CallLine[], of: CallLine | undefined = lines[0]): unknown => {
  const tree = treeOf(lines, of as CallLine);
  return tree && textOf(tree);
};

describe('the tree of a program', () => {
  test('has its calls by their positions, in whatever order they are known', () => {
    const lines = [line('c/10', 'c'), line('c/2', 'c'), line('c'), line('c/1', 'c'), line('other')];
    for (const of of lines.slice(0, 4)) expect(drawn(lines, of)).toBe('c [c/1, c/2, c/10]');
    expect(drawn(lines, lines[4])).toBeUndefined();
  });

  test('has each call once, as it is after it has waited', () => {
    const lines = [
      line('c'),
      line('c/1', 'c'),
      line('c/2', 'c', { status: 'pending' }),
      line('c/2', 'c', { attempt: 2, status: 'succeeded' }),
      line('c', undefined, { attempt: 2 }),
      line('c/3', 'c'),
      line('c', undefined, { attempt: 2, status: 'succeeded' }),
    ];
    expect(drawn(lines)).toBe('c(2) [c/1, c/2(2), c/3]');
    expect(treeOf(lines, lines[0] as CallLine)?.line.status).toBe('succeeded');
  });

  test('goes on below calls that call tools themselves', () => {
    const lines = [line('x', 'c/1'), line('c/1', 'c'), line('c'), line('y', 'x')];
    expect(drawn(lines)).toBe('c [c/1 [x [y]]]');
    const tree = treeOf(lines, lines[0] as CallLine) as CallNode;
    const told = ['c', 'c/1', 'x'].map((id) => isProgram(nodeIn(tree, id) as CallNode));
    expect(told).toEqual([true, false, false]);
    expect(nodeIn(tree, 'z')).toBeUndefined();
  });

  test('is that of its session alone, and begins where calls are known', () => {
    const lines = [
      line('c/1', 'c'),
      line('c', undefined, { sessionId: 'other' }),
      line('x', 'c/1'),
    ];
    expect(drawn(lines)).toBe('c/1 [x]');
  });
});

describe('lines that no call can have', () => {
  test('do not go round in circles', () => {
    expect(drawn([line('a', 'a')])).toBe('a');
    const circle = [line('a', 'b'), line('b', 'c'), line('c', 'a')];
    for (const of of circle) expect(drawn(circle, of)).toMatch(/^[abc] \[[abc] \[[abc]\]\]$/);
  });

  test('are drawn up to a depth and a number', () => {
    const deep = Array.from({ length: 100 }, (_, at) => line(`d${at + 1}`, `d${at}`));
    expect(String(drawn([line('d0'), ...deep], deep[0])).split('[')).toHaveLength(13);
    const wide = Array.from({ length: 2_000 }, (_, at) => line(`c/${at + 1}`, 'c'));
    expect(drawn([line('c'), ...wide], wide[0])).toMatch(/^c \[c\/1, .*c\/499\] \+1501$/);
  });
});
