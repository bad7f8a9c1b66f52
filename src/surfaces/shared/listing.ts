/**
 * A session's effective tools as one dialect shows them: names that fit, schemas converted once,
 * each lossy edit a warning.
 */
import type { HostTool, JsonObject, ToolSession } from '../../index.ts';
import { type ProviderNames, toProviderNames } from '../../workflow/index.ts';

/** A dialect's rules. One frozen object a dialect: what was converted is remembered by it. */
export interface Dialect {
  /** The rule for names, as {@link toProviderNames} takes it. @default `^[A-Za-z0-9_-]{1,64}$` */
  readonly names?: { readonly pattern?: RegExp; readonly maxLength?: number };
  /** The input schema as this dialect takes it. */
  readonly convert: (schema: JsonObject) => ConvertedSchema;
}

/** A schema in a dialect. */
export interface ConvertedSchema {
  readonly schema: JsonObject;
  /** What the dialect cannot say. */
  readonly losses: readonly SchemaLoss[];
  /** Optional properties were made nullable: nulls in their places mean "not given". */
  readonly nullable?: boolean;
  /** The provider can hold its model to it. @default false */
  readonly strict?: boolean;
}

/** One place at which a dialect's schema says less, or something else. */
export interface SchemaLoss {
  /** JSON pointer into the input schema. */
  readonly path: string;
  /** What was done and why. */
  readonly message: string;
}

/** A loss with its tool. */
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

/** What a surface shows of a session. */
export interface Listing {
  /** In effective order. */
  readonly shown: readonly ShownTool[];
  /** Shown name to tool name, of the tools that are shown. */
  readonly nameMap: ReadonlyMap<string, string>;
  /** The same with the tools that are hidden now: a model may call what it was shown before. */
  readonly known: ReadonlyMap<string, string>;
  /**
   * Tool name to shown name, of the hidden tools too. A name that is in no listing is given back as
   * it is. For `surface.shownName`.
   */
  readonly shownName: (name: string) => string;
  readonly warnings: readonly SurfaceWarning[];
}

const conversions = new WeakMap<Dialect, WeakMap<object, ConvertedSchema>>();
const aliases = new WeakMap<Dialect, WeakMap<object, ProviderNames>>();
const listings = new WeakMap<Dialect, WeakMap<object, Listing>>();

/**
 * Lists a session's tools in a dialect. The same listing is given back until the effective tools
 * change.
 */
export function listingOf(session: ToolSession, dialect: Dialect): Listing {
  const tools = session.tools();
  const known = remembered(listings, dialect);
  const before = known.get(tools);
  if (before !== undefined) return before;
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
  // A tool that came since this listing is in the next one.
  const shownName = (name: string): string =>
    toProvider.get(name) ?? namesOf(session, dialect).toProvider.get(name) ?? name;
  const listing: Listing = { shown, nameMap, known: toTool, shownName, warnings };
  known.set(tools, listing);
  return listing;
}

/**
 * Names of all tools, hidden ones too: an alias does not change because another tool comes or goes
 * behind a gate. Once for all sessions that see the same.
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
 * A schema is frozen and the same object for all sessions, so that it is converted once a dialect.
 */
function convertOnce(schema: JsonObject, dialect: Dialect): ConvertedSchema {
  const known = remembered(conversions, dialect);
  const before = known.get(schema);
  if (before !== undefined) return before;
  const converted = dialect.convert(schema);
  known.set(schema, converted);
  return converted;
}

function remembered<T>(
  table: WeakMap<Dialect, WeakMap<object, T>>,
  dialect: Dialect,
): WeakMap<object, T> {
  const known = table.get(dialect) ?? new WeakMap<object, T>();
  table.set(dialect, known);
  return known;
}
