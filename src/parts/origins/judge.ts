/** Judges the arguments of a call: the origin of each target and of each identifier in a text. */
import type { FoundOrigin, JudgedOrigin, KnownContainers, Role } from '../../api/origins.ts';
import { isJsonObject, type JsonPrimitive, type JsonValue } from '../../values/json/index.ts';
import { isMoment } from './dates.ts';
import { identifiersIn, isWebAddress } from './identifiers.ts';
import type { LabelNode } from './labels.ts';
import { plainHost } from './plain-url.ts';
import { lookupSteps, type OriginRecord } from './record.ts';
import {
  hasMomentFormat,
  type InputRoles,
  isContentName,
  isDeclared,
  isFixed,
  isMomentField,
} from './roles.ts';
import { compatible, type Steps } from './text.ts';

/** Deeper values are judged as a whole. */
const maxDepth = 200;

/**
 * The origins of the values that an input acts upon, in the order of the input: the whole value of
 * each target, and each identifier in a text. Values that are `free` or fixed by the schema are
 * left out, and so are empty texts. A key that the schema does not name is read as a text.
 *
 * A date or time in an argument that is named or described as one (`date`, `start_time`,
 * `YYYY-MM-DD`) is listed only if it is known: a moment says neither whom nor what.
 *
 * Longer than 60 lines, since the functions of the walk share the results, and run for each
 * argument of each call.
 */
export function judgeInput(
  record: OriginRecord,
  input: JsonValue,
  roles: InputRoles,
  containers: KnownContainers = {},
): JudgedOrigin[] {
  const judged: JudgedOrigin[] = [];
  const steps: Steps = { left: lookupSteps };
  const { fields } = roles;

  const originOf = (value: JsonPrimitive): FoundOrigin => {
    const found = record.originOf(value, steps);
    if (found.origin === 'user' || found.origin === 'trusted' || typeof value !== 'string')
      return found;
    return knownContainer(record, value, containers, steps) ?? found;
  };
  const push = (
    path: string,
    value: JsonPrimitive,
    role: 'target' | 'content',
    found: FoundOrigin,
  ): void => {
    judged.push(Object.assign({ path, value, role }, found));
  };
  const judgeText = (path: string, text: string): void => {
    const identifiers = identifiersIn(text);
    if (identifiers === undefined) push(path, text, 'content', { origin: record.unsearched });
    else for (const one of identifiers) push(path, one, 'content', originOf(one));
  };
  /** Elements of an array have the same name, one after another. */
  let lastName = '';
  let lastIsContent = false;
  const isContent = (name: string): boolean => {
    if (name !== lastName) {
      lastName = name;
      lastIsContent = isContentName(name);
    }
    return lastIsContent;
  };
  const judgeString = (
    path: string,
    value: string,
    name: string,
    role: Role | undefined,
    node: LabelNode<Role>,
  ): void => {
    if (value === '' || isFixed(value, node)) return;
    if (role === 'content' || (role === undefined && isContent(name))) judgeText(path, value);
    else if (
      role === undefined &&
      isMoment(value) &&
      (hasMomentFormat(node) || isMomentField(name, node))
    ) {
      if (hasMomentFormat(node)) return;
      const found = originOf(value);
      if (found.origin === 'user' || found.origin === 'trusted') push(path, value, 'target', found);
    } else push(path, value, 'target', originOf(value));
  };
  const walk = (
    value: JsonValue,
    node: LabelNode<Role>,
    above: Role | undefined,
    path: string,
    name: string,
    depth: number,
  ): void => {
    const role = node.label ?? above;
    // A label further down may be more specific than the one above.
    if (role === 'free' && (typeof value !== 'object' || value === null)) return;
    if (typeof value === 'string') judgeString(path, value, name, role, node);
    else if (typeof value === 'number') {
      if (role === 'target' && !isFixed(value, node)) push(path, value, 'target', originOf(value));
    } else if (typeof value === 'object' && value !== null) {
      if (depth >= maxDepth) push(path, unreadValue, 'target', { origin: record.unsearched });
      else if (Array.isArray(value))
        for (let index = 0; index < value.length; index++)
          walk(
            value[index] as JsonValue,
            fields.child(node, index),
            role,
            below(path, index),
            name,
            depth + 1,
          );
      else if (isJsonObject(value))
        for (const key of Object.keys(value)) {
          if (role !== 'free' && !isDeclared(key, node)) judgeText(path, key);
          walk(
            value[key] as JsonValue,
            fields.child(node, key),
            role,
            below(path, key),
            key,
            depth + 1,
          );
        }
    }
  };
  walk(input, fields.root, undefined, '', '', 0);
  return judged;
}

function below(path: string, key: string | number): string {
  return path === '' ? String(key) : `${path}.${key}`;
}

/** The value of an argument that cannot be read. */
export const unreadValue = '…';

// Values that are known because of their container: a path in a known folder, a URL on a known
// host.

/** The steps that reading an address takes. */
const hostSteps = 300;

/** The container that makes a value known; undefined if there is none. */
export function knownContainer(
  record: OriginRecord,
  value: string,
  { paths, hosts }: KnownContainers,
  steps: Steps,
): FoundOrigin | undefined {
  if (steps.left < 0) return undefined;
  if (hosts === true) {
    steps.left -= hostSteps;
    const host = plainHost(value);
    if (host !== undefined && knowsHost(record, host, steps))
      return { origin: 'user', within: host };
  }
  if (paths === true)
    for (const folder of foldersOf(value)) {
      const { origin } = record.originOf(folder, steps);
      if (origin === 'user' || origin === 'trusted') return { origin, within: folder };
    }
  return undefined;
}

function knowsHost(record: OriginRecord, host: string, steps: Steps): boolean {
  const isName = isHostName(host);
  const leads = isName ? [''] : ['http://', 'https://', 'www.'];
  if (leads.some((lead) => record.userWrote({ text: lead + host, kind: 'host' }, steps)))
    return true;
  for (const value of record.approvals.keys()) {
    steps.left -= 20;
    if (steps.left < 0) return false;
    if ((isName || /^(?:https?:\/\/|www\.)/i.test(value)) && plainHost(value) === host) return true;
  }
  return false;
}

/** Endings of files that are also top-level domains. */
const fileEndings = new Set(
  'ac am cc gd la mk ml mm mo mobi mov md pl pm ps pub py rs sc sh so sv tf zip'.split(' '),
);

/** Whether a word of a text names this host without a scheme: `report.zip` names a file. */
function isHostName(host: string): boolean {
  if (host.includes(':')) return true;
  return host.includes('.') && !fileEndings.has(host.slice(host.lastIndexOf('.') + 1));
}

/** Characters that no one sees in a path. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;

/** Most parent folders of one path that are looked up. */
const maxFolders = 64;

/**
 * What ends a name or has a meaning for a shell, and white space that does not join two words,
 * since `docs/a -x` and `docs/a /etc` are two words for a shell.
 */
const notInNames = /[$`;&|<>()[\]{}*?!"'^%@#,:]|(?! )\s| (?![\p{L}\p{N}])/u;

/**
 * The folders that contain a local path, the nearest first. None for a path with `.` or `..` in it,
 * for a URL, for a path with signs that a shell acts upon, and for a folder that is one bare word
 * or the root, which would make too much known.
 */
function foldersOf(value: string): string[] {
  if (value.length > 4_096) return [];
  const plain = compatible(value);
  const drive = /^[a-z]:(?=\\)/i.exec(plain)?.[0] ?? '';
  if (invisible.test(plain) || notInNames.test(plain.slice(drive.length))) return [];
  const mark = plain.includes('\\') ? '\\' : '/';
  if (mark === '\\' && plain.includes('/')) return [];
  const path = plain.startsWith(`.${mark}`) ? plain.slice(2) : plain;
  // `example.com/a` may be a page, and `./example.com/a` is none.
  if (path === plain && isWebAddress(path)) return [];
  const names = path.split(mark);
  if (names.slice(1, -1).includes('') || names.some((name) => /^\.+$|^ | $/.test(name))) return [];
  const folders: string[] = [];
  for (let count = names.length - 1; count >= 2 && folders.length < maxFolders; count--)
    folders.push(names.slice(0, count).join(mark));
  // A single word is a folder only with its slash: `docs/`.
  return folders;
}
