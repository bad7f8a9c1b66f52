/**
 * The data about a call for policy engines. Cedar and OPA get the same document, so that a policy
 * means the same in both.
 */
import type { PolicySubject } from '../../core.ts';
import { escapePointer, type JsonObject, type JsonValue } from '../../values/json/index.ts';

/** The document about a call that Cedar and OPA get. */
export interface PolicyDocument {
  /** The principal of the session; `""` if it has none. */
  readonly principal: string;
  /** The action. There is only one. */
  readonly action: 'call';
  /** The tool. */
  readonly resource: {
    /** The registered name. */
    readonly name: string;
    /** Who registered the tool: `host`, a scope's source, a relay application, or an MCP server. */
    readonly source: string;
    /** Labels of the definition. */
    readonly tags: readonly string[];
    /** Hints of the definition; one that is not given is false. */
    readonly annotations: {
      /** Changes nothing. */
      readonly readOnly: boolean;
      /** May destroy or overwrite. */
      readonly destructive: boolean;
      /** Calling again with the same arguments changes nothing more. */
      readonly idempotent: boolean;
      /** Reaches beyond the host. */
      readonly openWorld: boolean;
    };
    /** The definition's fingerprint: `sha256:` and hex. */
    readonly fingerprint: string;
  };
  /** Everything else about the call. */
  readonly context: {
    /** The canonical input. */
    readonly input: JsonObject;
    /** The facts of the session. */
    readonly facts: JsonObject;
    /** The adapter that the call came through; `""` for a direct call. */
    readonly surface: string;
    /** The session's id. */
    readonly sessionId: string;
    /** What the tool's `attributes` returned, by path. */
    readonly attributes: JsonObject;
  };
}

/** The document of a call. It shares its parts with the call. */
export function policyDocument(call: PolicySubject): PolicyDocument {
  const { tool, context } = call;
  const { annotations } = tool;
  return {
    // Own members only: a polluted prototype names no principal and sets no hint.
    principal: Object.hasOwn(context, 'principal') ? (context.principal ?? '') : '',
    action: 'call',
    resource: {
      name: tool.name,
      source: tool.source,
      tags: tool.tags,
      annotations: {
        readOnly: Object.hasOwn(annotations, 'readOnly') && annotations.readOnly === true,
        destructive: Object.hasOwn(annotations, 'destructive') && annotations.destructive === true,
        idempotent: Object.hasOwn(annotations, 'idempotent') && annotations.idempotent === true,
        openWorld: Object.hasOwn(annotations, 'openWorld') && annotations.openWorld === true,
      },
      fingerprint: tool.fingerprint,
    },
    context: {
      input: call.input,
      facts: call.facts,
      surface: call.surface,
      sessionId: context.sessionId,
      attributes: call.attributes,
    },
  };
}

/**
 * The most that a document may cost. The costs are in proportion to the time that Cedar, the
 * slowest engine, takes to read a value. It runs in the host's thread, and reads a document of this
 * cost in about 50 ms.
 */
const maxCost = 20_000;
const cost = {
  /** The cost of a list item. */
  item: 1,
  /** The cost of an object's member, in addition to its name. */
  member: 3,
  /** The cost of a list or an object, in addition to its contents. */
  container: 3,
  /** The cost of a number with a fraction, which Cedar parses as a decimal. */
  fraction: 15,
  /** The cost of a text, in addition to its characters. */
  text: 1,
  /** The cost of an ASCII character. */
  char: 1 / 64,
  /** The cost of each further byte of a character that takes several in UTF-8. */
  byte: 4 / 64,
} as const;
/**
 * The parsers of the engines are recursive. An input has at most 64 levels; facts may have more.
 */
const maxDepth = 80;

/**
 * Says why a document must not reach an engine; undefined if it may. A lone surrogate is refused,
 * because engines replace it with another character. They would judge a different text from the one
 * that the tool gets.
 */
export function documentFault(document: PolicyDocument): string | undefined {
  const walk: Walk = { left: maxCost, path: [] };
  const fault = faultIn(document as unknown as JsonObject, walk, 0);
  return fault === undefined ? undefined : `${fault} (at ${placeOf(walk.path)})`;
}

/** A JSON pointer to a place in a document, bounded. */
export function placeOf(path: readonly (string | number)[]): string {
  const segments = path.map((segment) => escapePointer(String(segment).slice(0, 60)));
  const pointer = `/${segments.join('/')}`;
  return pointer.length > 200 ? `${pointer.slice(0, 197)}...` : pointer;
}

/** Whether a text can be written as UTF-8 without loss. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}

interface Walk {
  left: number;
  /** The place of the fault. It is filled in only while the walk unwinds. */
  readonly path: (string | number)[];
}

function faultIn(value: JsonValue, walk: Walk, depth: number): string | undefined {
  if (typeof value === 'string') return textFault(value, walk);
  if (typeof value === 'number')
    return Number.isInteger(value) ? undefined : spend(walk, cost.fraction);
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= maxDepth) return `nested deeper than ${maxDepth} levels`;
  return Array.isArray(value)
    ? faultInList(value, walk, depth)
    : faultInObject(value as JsonObject, walk, depth);
}

function faultInList(list: readonly JsonValue[], walk: Walk, depth: number): string | undefined {
  const large = spend(walk, cost.container + list.length * cost.item);
  if (large !== undefined) return large;
  for (let index = 0; index < list.length; index++) {
    const fault = faultIn(list[index] as JsonValue, walk, depth + 1);
    if (fault !== undefined) {
      walk.path.unshift(index);
      return fault;
    }
  }
  return undefined;
}

function faultInObject(object: JsonObject, walk: Walk, depth: number): string | undefined {
  const keys = Object.keys(object);
  const large = spend(walk, cost.container + keys.length * cost.member);
  if (large !== undefined) return large;
  for (const key of keys) {
    const fault = textFault(key, walk) ?? faultIn(object[key] as JsonValue, walk, depth + 1);
    if (fault !== undefined) {
      walk.path.unshift(key);
      return fault;
    }
  }
  return undefined;
}

function textFault(text: string, walk: Walk): string | undefined {
  const { length } = text;
  // Counting the bytes of a very long text takes time as well.
  const large =
    spend(walk, cost.text + length * cost.char) ??
    spend(walk, (Buffer.byteLength(text) - length) * cost.byte);
  if (large !== undefined) return large;
  return isWellFormed(text) ? undefined : 'half of a surrogate pair, which is not valid Unicode';
}

function spend(walk: Walk, amount: number): string | undefined {
  walk.left -= amount;
  return walk.left < 0 ? `larger than the budget of ${maxCost}` : undefined;
}
