/** The forms of numbers, times, codes and agents for people. */
import type { SentActor } from '../../approvals-wire.ts';

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const number = new Intl.NumberFormat('en');

/** The time of day, with milliseconds, after the day unless it is today. */
export function timeOf(at: number): string {
  return [dayOf(at), clock.format(at) + fractionOf(at)].filter((text) => text !== '').join(' ');
}

/** The day, such as `Nov 28`; `""` for today. */
export function dayOf(at: number): string {
  return new Date(at).toDateString() === new Date().toDateString() ? '' : day.format(at);
}

/** The milliseconds of a second, as they follow the time of day: `.042`. */
export function fractionOf(at: number): string {
  return `.${String(Math.floor(at) % 1_000).padStart(3, '0')}`;
}

/** The time of day. */
export function shortTimeOf(at: number): string {
  return clock.format(at);
}

export function countOf(value: number): string {
  return number.format(value);
}

/** A duration in a unit that fits it. */
export function durationOf(ms: number | undefined): string {
  if (ms === undefined) return '';
  if (ms < 1) return `${(ms * 1_000).toFixed(0)} µs`;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${ms.toFixed(0)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1_000)} s`;
}

/** An approximate duration. The largest unit is sufficient. */
export function aboutOf(ms: number): string {
  if (ms < 60_000) return `${Math.max(0, Math.floor(ms / 1_000))} s`;
  if (ms < 5_400_000) return `${Math.floor(ms / 60_000)} min`;
  if (ms < 172_800_000) return `${Math.floor(ms / 3_600_000)} h`;
  return `${Math.floor(ms / 86_400_000)} days`;
}

export function shareOf(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(part === 0 ? 0 : 1)} %`;
}

/** `1 call`, `2 calls`. */
export function several(count: number, one: string, many = `${one}s`): string {
  return `${countOf(count)} ${count === 1 ? one : many}`;
}

/** The agents of an actor: `planner › writer`; undefined for a direct call. */
export function agentsOf(actor: SentActor | undefined): string | undefined {
  const { chain = [] } = actor ?? {};
  return chain.length === 0 ? undefined : chain.map(({ agent }) => agent).join(' › ');
}

/** The labels of an actor: `email: ann@example.com, team: sales`. */
export function labelsOf(actor: SentActor | undefined): string | undefined {
  const labels = Object.entries(actor?.labels ?? {});
  if (labels.length === 0) return undefined;
  return labels.map(([name, value]) => `${name}: ${value}`).join(', ');
}
