/** Of rules, profiles, approvals, limits and redaction: mutants that behave as the source does, or differ in speed alone. */
import { type Equivalent, same } from './equivalence.ts';

const deadlines = 'src/limits/deadlines.ts';
const semaphore = 'src/limits/semaphore.ts';
const search = 'src/redaction/search.ts';
const jsonScan = 'src/redaction/json-scan.ts';
const token = 'src/approval/token.ts';

const lookedUpAgain = 'Speed alone: the list is then looked up by its duration.';
const pastTheEnd = 'Past its end a text has no character: what is read there equals nothing.';
const noValueThere = 'Before the text there is no value either, and at its start none that is read by itself: the answer is the same.';
const noSignature = 'Speed alone: no signature fits such a text.';
const sameLength = 'The same length is written again.';
const emptyMap = 'Speed alone: an empty map is then looked into.';
const largerTable = 'Speed alone: the table is larger than it has to be.';

export const rules: readonly Equivalent[] = [
  same(deadlines, '#armedAt = 0;', '0', '1', 'It is read only while a timer is armed, which sets it.'),
  same(deadlines, '#long = false;', 'false', 'true', 'It is read only while an entry waits, for which a timer was armed, which sets it.'),
  same(
    deadlines,
    'const duration = durationMs > 1 ? Math.min(Math.ceil(durationMs), LONGEST_MS) : 1;',
    '>',
    '>=',
    'One millisecond rounded up is one millisecond.',
  ),
  ...['list === undefined || list.durationMs !== duration', 'list.durationMs !== duration'].map((was) =>
    same(deadlines, 'if (list === undefined || list.durationMs !== duration) list = this.#listOf(duration);', was, 'true', lookedUpAgain),
  ),
  same(deadlines, 'this.#recent = list;', 'this.#recent = list;', ';', lookedUpAgain),
  same(deadlines, 'if (this.#recent === list) this.#recent = undefined;', 'this.#recent === list', 'true', lookedUpAgain),
  same(deadlines, 'if (this.#armedFor <= clock) return clock;', '<=', '<', 'Where both are the same it does not matter which one it is.'),
  same(
    deadlines,
    'for (const list of this.#lists.values()) if (list.head !== undefined && list.head.dlAt < nearest) nearest = list.head.dlAt;',
    '<',
    '<=',
    'The same moment is written again.',
  ),
  ...['free && holder.parent === undefined', 'holder.parent === undefined'].map((was) =>
    same(semaphore, 'if (free && holder.parent === undefined) {', was, 'false', 'Speed alone: what has no parent is then found to ride on nothing.'),
  ),
  same(semaphore, 'if (riders.size === 0) this.#riders = undefined;', 'riders.size === 0', 'false', emptyMap),
  same(semaphore, 'if (riders.size === 0) this.#riders = undefined;', 'this.#riders = undefined;', ';', emptyMap),
  same(semaphore, 'if (this.#moves(nothing)) return false;', 'this.#moves(nothing)', 'false', 'Speed alone: what moves is then gathered step by step.'),
  same(semaphore, 'for (let before = -1; before < moving.size; ) {', '1', '2', 'Any number below 0 does: the first round is always made.'),
  same(search, 'for (let at = 0; at < text.length; at++) {', '<', '<=', pastTheEnd),
  same(search, 'if (form.length > (lengths[start] as number)) lengths[start] = form.length;', '>', '>=', sameLength),
  same(search, 'for (let at = 1, matched = 0; at < form.length; at++) {', '<', '<=', pastTheEnd),
  same(search, 'for (let at = 0, matched = 0; at < text.length; at++) {', '<', '<=', pastTheEnd),
  same(search, 'while (at < form.length && folded(form.charCodeAt(at)) === folded(text.charCodeAt(start + at))) at++;', 'at < form.length', 'true', pastTheEnd),
  same(search, 'while (at < form.length && folded(form.charCodeAt(at)) === folded(text.charCodeAt(start + at))) at++;', '<', '<=', pastTheEnd),
  same(search, 'const bits = Math.max(4, 32 - Math.clz32(most * 2));', '4', '5', largerTable),
  same(search, 'const bits = Math.max(4, 32 - Math.clz32(most * 2));', '32', '33', largerTable),
  same(search, 'const bits = Math.max(4, 32 - Math.clz32(most * 2));', '2', '3', largerTable),
  same(search, 'const roots = new Int32Array(256).fill(-1);', '256', '257', 'A place that is never looked at.'),
  same(jsonScan, 'for (; at < text.length; at++) {', '<', '<=', pastTheEnd),
  same(jsonScan, 'for (let at = start + 1; at < text.length; at++) {', '<', '<=', pastTheEnd),
  same(jsonScan, "const end = text[at] === '\"' ? afterString(text, at) : -1;", '1', '2', noValueThere),
  same(jsonScan, 'if (end === -1) return -1;', '1', '2', noValueThere),
  same(jsonScan, "if (text[colon] !== ':') return -1;", '1', '2', noValueThere),
  same(jsonScan, 'if (at === -1) return false;', 'at === -1', 'false', noValueThere),
  same(jsonScan, 'if (at === -1) return false;', '1', '2', noValueThere),
  same(
    jsonScan,
    "return inner.includes('\\\\') ? (JSON.parse(text.slice(start, end)) as string) : inner;",
    "inner.includes('\\\\')",
    'true',
    'Speed alone: a text without escapes is read as it stands.',
  ),
  same(token, "if (dot < 1 || token.indexOf('.', dot + 1) !== -1) return undefined;", '<', '<=', noSignature),
  same('src/options.ts', 'return near ?? nearestNames(unknown, known, 1)[0];', '1', '2', 'The first of two names is the one that is found alone.'),
];
