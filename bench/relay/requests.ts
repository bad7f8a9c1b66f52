/**
 * What a relay's lazy requests save: the round trips of `trips`, by a relay that makes a real
 * `Request` for each request, against one that makes only what is read of it. Both read bodies and
 * headers directly.
 */
import type { FamilyResult, Row } from '../targets.ts';
import { look, openWay, type Seen } from './trips.ts';

function rowsOf(at: string, [lazy, whole]: readonly [Seen, Seen]): Row[] {
  return [
    {
      what: `round trips, ${at}: time with whole requests against lazy ones`,
      value: whole.ratio,
      unit: '×',
      note: `${Math.round(lazy.ns / 1e3)} → ${Math.round(whole.ns / 1e3)} µs`,
    },
    {
      what: `the server's own processor time, ${at}, whole requests against lazy ones`,
      value: whole.cpuUs / lazy.cpuUs,
      unit: '×',
      note: `${Math.round(lazy.cpuUs)} → ${Math.round(whole.cpuUs)} µs each`,
    },
  ];
}

export async function measure(): Promise<FamilyResult> {
  const rows: Row[] = [];
  for (const atOnce of [1, 16]) {
    const ways = [
      await openWay('lazy requests', 'lazy', atOnce),
      await openWay('whole requests', 'whole', atOnce),
    ];
    const seen = (await look(ways, atOnce)) as unknown as readonly [Seen, Seen];
    rows.push(...rowsOf(atOnce === 1 ? 'one at a time' : `${atOnce} at a time`, seen));
    for (const way of ways) await way.close();
  }
  return { rows };
}
