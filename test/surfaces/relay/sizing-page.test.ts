/**
 * What the page on deployment extrapolates follows from what it has measured. When the measured
 * figures are replaced, this says what the others have to be.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../docs/pages.ts';

const page = readFileSync(join(root, 'docs/relay-deployment.md'), 'utf8');

/** The rows of the table below a comment. */
function tableAfter(mark: string): readonly (readonly string[])[] {
  const [, text = ''] = page.split(`<!-- ${mark} -->`);
  const [table = ''] = text.split('<!-- end -->');
  return table
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('|---'))
    .slice(1)
    .map((line) => line.slice(2, -2).split(' | '));
}

const measured = tableAfter('measured').map(([, figure = '']) => Number.parseFloat(figure));
const [memoryMs, nodeMs, redisUs, messages, , , idleNode, idleRedis] = measured as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
];
/** The assumptions of the page. */
const busy = 0.6;
const messageUs = 5;

const nodeRate = (busy * 1_000) / nodeMs;
/** Every master hears every message. */
const redisRate = (masters: number): number =>
  (busy * 1e6) / (redisUs / masters + (1 - 1 / masters) * messages * messageUs);
/** With two significant digits, and blanks between thousands. */
const shown = (value: number): string =>
  String(Number(value.toPrecision(2))).replace(/\B(?=(\d{3})+$)/g, ' ');
const sessions = (percent: number): string => shown((busy * 100 * 1_000) / percent);

test('the extrapolated figures follow from the measured ones', () => {
  expect(measured).toHaveLength(9);
  expect(tableAfter('extrapolated')).toEqual([
    ['one node, store in memory', shown((busy * 1_000) / memoryMs), 'the node'],
    ['one node with Redis', shown(nodeRate), 'the node'],
    ...[2, 4, 8].map((nodes) => [
      `${nodes} nodes with one Redis`,
      shown(Math.min(nodes * nodeRate, redisRate(1))),
      nodes * nodeRate < redisRate(1) ? 'the nodes' : 'Redis',
    ]),
    ...[3, 6].map((masters) => [
      `${Math.ceil(redisRate(masters) / nodeRate)} nodes with a cluster of ${masters} masters`,
      shown(redisRate(masters)),
      'Redis',
    ]),
  ]);
});

test('the number of connected sessions follows from the measured figures too', () => {
  expect(page).toContain(
    `${sessions(idleNode)} sessions per node and ${sessions(idleRedis)} per Redis`,
  );
});
