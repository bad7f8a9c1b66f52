/** Reads a file up to a size, parses it, and splits it into the entries of its sections. */
import { stat } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMisuseError, MisuseError } from '../../core.ts';
import { describe } from '../../values/errors/index.ts';
import { readRegularFile } from '../../values/files/regular-file.ts';
import { topLevelKeys } from './format.ts';
import { oneLine, unknownKey } from './issues.ts';
import { type Located, lineColumn, type ParsedText, type Place, TextFault } from './places.ts';
import { readJson } from './read-json.ts';
import { yamlReader } from './read-yaml.ts';
import type { FileSection } from './report.ts';
import { type SingleSection, singleSections } from './single-sections.ts';

/** Maximum size of a file, in bytes. */
export const maxBytes = 4_000_000;

/** An entry of a section, as written. */
export interface RawEntry extends Located {
  /** The index in its section, from 0. */
  readonly index: number;
  /** The id of a profile, or the name of a server. */
  readonly key?: string;
}

/** A file whose top level is well formed. A section that is one value is one entry. */
export interface RawFile extends Readonly<Partial<Record<SingleSection, RawEntry>>> {
  /** The absolute path. */
  readonly path: string;
  readonly tools: readonly RawEntry[];
  readonly profiles: readonly RawEntry[];
  readonly rules: readonly RawEntry[];
  readonly quotas: readonly RawEntry[];
  readonly mcpServers: readonly RawEntry[];
}

/** The names of the sections in which a file has something. */
export function writtenSections({ path: _, ...sections }: RawFile): readonly string[] {
  return Object.entries(sections)
    .filter(([, content]: [string, unknown]) => !Array.isArray(content) || content.length > 0)
    .map(([name]) => name);
}

/** The absolute path of a file that a host names. @throws MisuseError `invalid_option`. */
export function pathOf(path: string | URL, who: string): string {
  if (typeof path === 'string' && path !== '' && !path.includes('\0'))
    return resolve(path.startsWith('file:') ? urlPath(path, who) : path);
  if (path instanceof URL) return resolve(urlPath(path, who));
  throw new MisuseError(
    'invalid_option',
    `${who}: expected a path or a file URL, got ${describe(path)}.`,
  );
}

function urlPath(url: string | URL, who: string): string {
  try {
    return fileURLToPath(url);
  } catch (error) {
    throw new MisuseError(
      'invalid_option',
      `${who}: expected a path or a file URL, got \`${String(url)}\`.`,
      { cause: error },
    );
  }
}

/**
 * A text that differs for different states of a file.
 * @throws MisuseError `invalid_file` if the file does not exist.
 */
export async function signatureOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch (error) {
    throw unreadable(path, error);
  }
}

/**
 * Reads a file.
 * @throws MisuseError `invalid_file`, whose message starts with the file, line and column;
 * `missing_dependency`
 */
export async function readFile(path: string): Promise<RawFile> {
  const text = await readText(path);
  const read = extname(path).toLowerCase() === '.json' ? readJson : await yamlReader();
  try {
    return sectionsOf(path, text, read(text));
  } catch (error) {
    if (!(error instanceof TextFault)) throw error;
    const { line, column } = lineColumn(text, error.at);
    throw new MisuseError('invalid_file', `${path}:${line}:${column}: ${oneLine(error.message)}`);
  }
}

async function readText(path: string): Promise<string> {
  let bytes: Buffer | undefined;
  try {
    bytes = await readRegularFile(path, maxBytes);
  } catch (error) {
    throw unreadable(path, error);
  }
  if (bytes === undefined)
    throw new MisuseError(
      'invalid_file',
      `${path}:1:1: expected a regular file, got a pipe, a device or a socket`,
    );
  if (bytes.length > maxBytes)
    throw new MisuseError('invalid_file', `${path}:1:1: the file has more than ${maxBytes} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new MisuseError('invalid_file', `${path}:1:1: the file is not UTF-8 text`, {
      cause: error,
    });
  }
}

function unreadable(path: string, error: unknown): MisuseError {
  if (isMisuseError(error)) return error;
  const code = (error as { code?: unknown } | null)?.code;
  const what =
    code === 'ENOENT'
      ? 'there is no such file'
      : `the file cannot be read (${typeof code === 'string' ? code : 'unknown error'})`;
  return new MisuseError('invalid_file', `${path}:1:1: ${what}`, { cause: error });
}

/** Splits a parsed file into its entries. @throws TextFault */
function sectionsOf(path: string, text: string, { value, place }: ParsedText): RawFile {
  const shape = `a map with ${topLevelKeys.join(', ')}`;
  if (!isMap(value))
    throw new TextFault(
      place.at,
      `expected ${shape}, got ${value === null ? 'nothing' : describe(value)}`,
    );
  for (const key of Object.keys(value))
    if (!topLevelKeys.includes(key))
      throw new TextFault(placeOf(place, key).at, unknownKey(key, topLevelKeys));
  const contentOf = (section: FileSection): unknown =>
    Object.hasOwn(value, section) ? value[section] : undefined;
  const lines = lineFinder(text);
  const linesOf = (whole: Place): Omit<Located, 'value'> => ({
    line: lines(whole.at),
    lineAt: (path) =>
      lines(path.reduce<Place>((part, key) => placeOf(part, key as string | number), whole).at),
  });
  const entries = (section: FileSection): RawEntry[] => {
    const content = contentOf(section);
    const within = placeOf(place, section);
    if (content === undefined || content === null) return [];
    const noun = mapsOf.get(section);
    const asMap = noun !== undefined;
    if (asMap ? !isMap(content) : !Array.isArray(content))
      throw new TextFault(
        within.at,
        `expected \`${section}\` to be ${noun ?? 'a list'}, got ` + `${describe(content)}`,
      );
    // The places have the order of the file. An object would put integer keys first.
    return [...(within.inside ?? new Map<string | number, Place>())].map(([key, whole], index) => ({
      index,
      ...(asMap ? { key: key as string } : {}),
      value: (content as Record<string | number, unknown>)[key],
      ...linesOf(whole),
    }));
  };
  const singles: Partial<Record<SingleSection, RawEntry>> = {};
  for (const section of singleSections) {
    const content = contentOf(section);
    if (content !== undefined && content !== null)
      singles[section] = { index: 0, value: content, ...linesOf(placeOf(place, section)) };
  }
  return {
    path,
    tools: entries('tools'),
    profiles: entries('profiles'),
    rules: entries('rules'),
    quotas: entries('quotas'),
    mcpServers: entries('mcpServers'),
    ...singles,
  };
}

/** The sections that are maps, with their names in messages. */
const mapsOf: ReadonlyMap<FileSection, string> = new Map([
  ['profiles', 'a map of ids to profiles'],
  ['mcpServers', 'a map of names to servers'],
]);

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function placeOf(place: Place, key: string | number): Place {
  return place.inside?.get(key) ?? place;
}

/** Finds the lines of offsets. */
function lineFinder(text: string): (at: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (at) => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] as number) <= at) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}
