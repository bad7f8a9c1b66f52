import { expect, test } from 'vitest';
import {
  seriesOf,
  shownTime,
  timesByTool,
} from '../../../src/surfaces/pages/browser/inspector/series.ts';
import type { CallLine } from '../../../src/surfaces/pages/inspector-wire.ts';

function line(tool: string, status: string, durationMs: number): CallLine {
  const base = { n: 1, at: 0, callId: 'c', attempt: 1, sessionId: 's', principal: '' };
  return { ...base, surface: '', preview: '', phase: 'ended', tool, status, durationMs };
}

test('the times of a tool are those of its calls that ran, and of no others', () => {
  const lines = [
    ...[4, 1, 3, 2, 90].map((ms) => line('read', 'succeeded', ms)),
    line('read', 'rejected', 10_000),
    line('read', 'pending', 10_000),
    line('write', 'failed', 7),
    line('pay', 'rejected', 1),
  ];
  expect(timesByTool(lines)).toEqual(
    new Map([
      ['read', { mean: 20, half: 3, most: 90 }],
      ['write', { mean: 7, half: 7, most: 7 }],
    ]),
  );
});

test('nor does the chart of latencies count calls that wait, were refused or cancelled', () => {
  const lines = [
    line('read', 'succeeded', 3),
    ...['pending', 'rejected', 'cancelled'].map((status) => line('read', status, 1_500)),
  ];
  const { calls, half, most } = seriesOf(lines, 0);
  expect([calls[0], half[0], most[0]]).toEqual([4, 3, 3]);
});

test('a chart shows at least ten seconds, so that the labels of its times differ', () => {
  const { times } = seriesOf([line('read', 'succeeded', 3)], 0);
  expect(times).toEqual([0]);
  expect(shownTime(times)).toEqual([0, 10]);
  expect(shownTime([50, 80, 110])).toEqual([50, 110]);
});
