/**
 * Values that are known because of their container: a path in a known folder, a URL on a known
 * host.
 */
import { hostOf } from './addresses.ts';
import type { FoundOrigin } from './origin.ts';
import type { OriginRecord } from './record.ts';
import type { Steps } from './steps.ts';

/** Which containers make a value known. */
export interface KnownContainers {
  /**
   * A local path counts as known if a folder that contains it is known: the user or trusted text
   * named the folder. Weakens the judgement: the model may then choose any file in it. @default
   * false
   */
  readonly paths?: boolean | undefined;
  /**
   * A URL counts as known if the user named its host, or a person approved a URL on it. Weakens the
   * judgement: text that the model has read may then choose the page, and what data its query sends
   * out. @default false
   */
  readonly hosts?: boolean | undefined;
}

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
    const host = hostOf(value);
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
  if (record.userWrote({ text: host, kind: 'host' }, steps)) return true;
  for (const value of record.approvals.keys()) {
    steps.left -= 20;
    if (steps.left < 0) return false;
    if (looksLikeUrl(value) && hostOf(value) === host) return true;
  }
  return false;
}

/** Most parent folders of one path that are looked up. */
const mostFolders = 64;

/**
 * The folders that contain a local path, the nearest first. None for a path with `.` or `..` in it,
 * for a URL, and for a folder that is one bare word or the root, which would make too much known.
 */
function foldersOf(value: string): string[] {
  if (value.length > 4_096 || value.includes('://') || /[\p{Cc}\p{Cf}%@]/u.test(value)) return [];
  const mark = value.includes('\\') ? '\\' : '/';
  if (mark === '\\' && value.includes('/')) return [];
  const path = value.startsWith(`.${mark}`) ? value.slice(2) : value;
  const names = path.split(mark);
  if (names.slice(1, -1).includes('') || names.some((name) => name === '.' || name === '..'))
    return [];
  const folders: string[] = [];
  for (let count = names.length - 1; count >= 2 && folders.length < mostFolders; count--)
    folders.push(names.slice(0, count).join(mark));
  // A single word is a folder only with its slash: `docs/`.
  return folders;
}

/** Whether a value is a web address, with or without a scheme. */
export function looksLikeUrl(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(value) || /^[^\s/@]+\.[^\s@]+$/.test(value);
}
