/** What an agent has told about one of its calls, in updates and questions. */
import type { ExternalOutcome } from '../../core.ts';
import {
  canonicalJson,
  copyJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../values/json/index.ts';

/** A call as far as it was told. Later messages about the same id add to it. */
export interface ToldCall {
  readonly id: string;
  /** About how many characters it has. */
  readonly size: number;
  readonly name?: string;
  /** The kind of the protocol: `read`, `edit`, `execute`, … */
  readonly kind?: string;
  readonly title?: string;
  /** The raw input. */
  readonly raw?: JsonValue;
  /** The paths of its locations and of its diffs. */
  readonly paths?: readonly string[];
  /** The name that Claude Code's adapter gives besides. */
  readonly claudeName?: string;
  readonly status?: string;
  /** What came out, as far as it was told. */
  readonly output?: JsonValue;
}

const limits = { maxDepth: 64, maxValues: 100_000, maxChars: 4_000_000 };
const maxIdChars = 256;
const maxPaths = 1_000;

/** Reads what a message says about a call; undefined if it is none, or too large to judge. */
export function readToldCall(
  value: unknown,
): { readonly told: Omit<ToldCall, 'size'>; readonly size: number } | undefined {
  const copy = copyJson(value, limits);
  if (!copy.ok || copy.overflow || !isJsonObject(copy.value)) return undefined;
  const call = copy.value;
  const id = call.toolCallId;
  if (typeof id !== 'string' || id === '' || id.length > maxIdChars) return undefined;
  const text = (name: string): string | undefined => {
    const given = call[name];
    return typeof given === 'string' && given !== '' ? given : undefined;
  };
  const meta = isJsonObject(call._meta) ? call._meta.claudeCode : undefined;
  const claudeName = isJsonObject(meta) ? meta.toolName : undefined;
  const paths = pathsOf(call);
  const output = outputOf(call);
  const told = {
    id,
    name: text('name'),
    kind: text('kind'),
    title: text('title'),
    raw: call.rawInput ?? undefined,
    paths: paths.length === 0 ? undefined : paths,
    claudeName: typeof claudeName === 'string' && claudeName !== '' ? claudeName : undefined,
    status: text('status'),
    output,
  };
  // What it does not say leaves what was told before.
  const given = Object.entries(told).filter(([, member]) => member !== undefined);
  return { told: Object.fromEntries(given) as Omit<ToldCall, 'size'>, size: copy.size };
}

/** What an update that is too large to read says at least: that a call has begun or ended. */
export function briefOf({ toolCallId, status, kind, name }: JsonObject): JsonObject {
  const texts = Object.entries({ toolCallId, status, kind, name }).filter(
    (entry): entry is [string, string] =>
      typeof entry[1] === 'string' && entry[1].length <= maxIdChars,
  );
  return Object.fromEntries(texts);
}

function pathsOf({ locations, content }: JsonObject): readonly string[] {
  const places = [...listOf(locations), ...listOf(content).filter(({ type }) => type === 'diff')];
  const paths = places.flatMap(({ path }) => (typeof path === 'string' ? [path] : []));
  return [...new Set(paths)].slice(0, maxPaths);
}

function outputOf({ rawOutput, content }: JsonObject): JsonValue | undefined {
  if (rawOutput !== undefined && rawOutput !== null) return rawOutput;
  const texts = listOf(content).flatMap(({ content: block }) =>
    isJsonObject(block) && typeof block.text === 'string' ? [block.text] : [],
  );
  return texts.length === 0 ? undefined : texts.join('\n');
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]).filter(isJsonObject) : [];
}

/** What a question is about, as text. */
export function aboutOf({ name, claudeName, kind, title, raw, paths = [] }: ToldCall): string {
  const shown = raw === undefined ? [title ?? null, [...paths]] : [raw];
  return canonicalJson([name ?? null, claudeName ?? null, kind ?? null, shown]);
}

/** How a call ended. */
export function outcomeOf({ status, output }: ToldCall): ExternalOutcome {
  if (status !== 'failed') return { output: output ?? null };
  const text = typeof output === 'string' ? output.trim() : '';
  return { error: text === '' ? 'It failed.' : text };
}
