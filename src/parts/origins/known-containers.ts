/**
 * Values that are known because of their container: a path in a known folder, a URL on a known
 * host.
 */

import type { FoundOrigin, KnownContainers } from '../../api/origins.ts';
import { isWebAddress } from './identifiers.ts';
import { plainHost } from './plain-url.ts';
import type { OriginRecord } from './record.ts';
import { compatible, type Steps } from './text.ts';

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
