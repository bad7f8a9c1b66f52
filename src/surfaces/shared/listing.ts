/**
 * A session's effective tools as one dialect shows them: with names that fit, schemas that are
 * converted once, and a warning for each loss.
 */
import type { HostTool, JsonObject, ToolSession } from '../../core.ts';
import {
  type LeftOutPattern,
  leaveOutPatterns,
} from '../../values/json-schema/leave-out-patterns.ts';
import { head } from '../../values/text/characters.ts';
import { isPortablePattern } from '../../values/text/portable-pattern.ts';
import { type ProviderNames, toProviderNames } from '../workflow/index.ts';

/**
 * The rules of a dialect. There is one frozen object per dialect, because conversions are cached by
 * it.
 */
export interface Dialect {
  /** The rule for names, as {@link toProviderNames} takes it. @default `^[A-Za-z0-9_-]{1,64}$` */
  readonly names?: { readonly pattern?: RegExp; readonly maxLength?: number };
  /** Converts an input schema for this dialect. */
  readonly convert: (schema: JsonObject) => ConvertedSchema;
}

/** A schema in a dialect. */
export interface ConvertedSchema {
  readonly schema: JsonObject;
  /** What the dialect cannot express. */
  readonly losses: readonly SchemaLoss[];
  /** Optional properties were made nullable, so null means "not given" for them. */
  readonly nullable?: boolean;
  /** The provider can restrict its model to arguments that fit the schema. @default false */
  readonly strict?: boolean;
}

/** One place at which a dialect's schema says less than the tool's own, or something else. */
export interface SchemaLoss {
  /** JSON pointer into the input schema. */
  readonly path: string;
  /** What was changed and why. */
  readonly message: string;
}

/** A loss, with the name of its tool. */
export interface SurfaceWarning extends SchemaLoss {
  /** The tool's name. */
  readonly tool: string;
}

/** One tool as shown. */
export interface ShownTool {
  /** The name that the model sees. */
  readonly name: string;
  readonly tool: HostTool;
  readonly schema: JsonObject;
  readonly nullable: boolean;
  readonly strict: boolean;
}

/** The tools of a session that a surface shows. */
export interface Listing {
  /** In effective order. */
  readonly shown: readonly ShownTool[];
  /** Maps the shown names of the shown tools to the tools' names. */
  readonly nameMap: ReadonlyMap<string, string>;
  /**
   * The same map, with the tools that are hidden now. A model may call a tool that it was shown
   * before.
   */
  readonly known: ReadonlyMap<string, string>;
  /**
   * Returns the shown name of a tool, also of a hidden one. A name that is in no listing is
   * returned unchanged. For `surface.shownName`.
   */
  readonly shownName: (name: string) => string;
  readonly warnings: readonly SurfaceWarning[];
}

const conversions = new WeakMap<Dialect, WeakMap<object, ConvertedSchema>>();
const aliases = new WeakMap<Dialect, WeakMap<object, ProviderNames>>();
const listings = new WeakMap<Dialect, WeakMap<object, Listing>>();

/**
 * Lists a session's tools in a dialect. The same object is returned until the effective tools
 * change.
 */
export function listingOf(session: ToolSession, dialect: Dialect): Listing {
  const tools = session.tools();
  const known = remembered(listings, dialect);
  const before = known.get(tools);
  if (before !== undefined) return before;
  const listing = listingWith(session, dialect, tools);
  known.set(tools, listing);
  return listing;
}

/** Lists some of the tools that a session may be shown. A new object at each call. */
export function listingWith(
  session: ToolSession,
  dialect: Dialect,
  tools: readonly HostTool[],
): Listing {
  const { toProvider, toTool } = namesOf(session, dialect);
  const warnings: SurfaceWarning[] = [];
  const shown = tools.map((tool): ShownTool => {
    const {
      schema,
      losses,
      nullable = false,
      strict = false,
    } = convertOnce(tool.inputSchema as JsonObject, dialect);
    for (const loss of losses) warnings.push({ tool: tool.name, ...loss });
    return { name: toProvider.get(tool.name) as string, tool, schema, nullable, strict };
  });
  const nameMap = new Map(shown.map(({ name, tool }) => [name, tool.name]));
  // A tool that was added after this listing is in the next one.
  const shownName = (name: string): string =>
    toProvider.get(name) ?? namesOf(session, dialect).toProvider.get(name) ?? name;
  return { shown, nameMap, known: toTool, shownName, warnings };
}

/**
 * The shown names of all tools, including hidden ones, so that an alias does not change when a gate
 * hides or shows another tool. Computed once for all sessions that see the same tools.
 */
function namesOf(session: ToolSession, dialect: Dialect): ProviderNames {
  const { names, dropped } = session.effectiveTools();
  const known = remembered(aliases, dialect);
  const before = known.get(names);
  if (before !== undefined) return before;
  const made = toProviderNames([...names, ...dropped.map(({ name }) => name)], dialect.names ?? {});
  known.set(names, made);
  return made;
}

/**
 * Converts a schema once per dialect. This works because a schema is frozen, and is the same object
 * for all sessions. Patterns that some engines cannot run are left out in every dialect, because a
 * provider refuses the whole request for one of them.
 */
function convertOnce(schema: JsonObject, dialect: Dialect): ConvertedSchema {
  const known = remembered(conversions, dialect);
  const before = known.get(schema);
  if (before !== undefined) return before;
  const portable = leaveOutPatterns(schema, isPortablePattern);
  const converted = dialect.convert(portable.schema);
  const losses = portable.leftOut.map(patternLoss);
  const made =
    losses.length === 0 ? converted : { ...converted, losses: [...losses, ...converted.losses] };
  known.set(schema, made);
  return made;
}

function patternLoss({ path, pattern }: LeftOutPattern): SchemaLoss {
  return {
    path,
    message:
      `The pattern ${JSON.stringify(head(pattern, 200))} was left out, because some ` +
      'providers refuse such a pattern. Calls are still checked against it.',
  };
}

function remembered<T>(
  table: WeakMap<Dialect, WeakMap<object, T>>,
  dialect: Dialect,
): WeakMap<object, T> {
  const known = table.get(dialect) ?? new WeakMap<object, T>();
  table.set(dialect, known);
  return known;
}
