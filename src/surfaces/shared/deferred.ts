/**
 * The tools of a session with discovery, for providers that read a definition only when their model
 * has found it. The list does not change while tools are found, so that prompts stay cached.
 */
import { type HostTool, type JsonObject, MisuseError, type ToolSession } from '../../core.ts';
import { inspectSession, type SessionView } from '../../extend.ts';
import { isJsonObject } from '../../values/json/index.ts';
import { type Dialect, type Listing, listingWith, type ShownTool } from './listing.ts';

/** Who searches the definitions that are not read yet: the session or the provider. */
export type Defer = 'ours' | 'provider';

/** A listing with everything that the session may show. */
export interface DeferredListing extends Listing {
  /** Tools that are always read, without `find_tools`. */
  readonly kept: readonly ShownTool[];
  /** The session's `find_tools`, unless a rule hides it. */
  readonly finder: ShownTool | undefined;
  /** Tools that are read when they were found. */
  readonly deferred: readonly ShownTool[];
}

type Findable = NonNullable<SessionView['findable']>;

const listings = new WeakMap<Dialect, WeakMap<Findable, DeferredListing>>();

/**
 * Lists a session's tools for a provider that defers them. The same object is returned until they
 * change.
 * @param where For the error of a session without discovery.
 * @throws MisuseError `invalid_option`
 */
export function deferredListing(
  session: ToolSession,
  dialect: Dialect,
  where: string,
): DeferredListing {
  const found = inspectSession(session).findable;
  if (found === undefined)
    throw new MisuseError(
      'invalid_option',
      `${where}: \`defer\` needs a session with \`discovery\`, whose \`keep\` says which tools ` +
        'are always read. Pass `discovery: {}` to createSession, or leave out `defer`.',
    );
  const known = listings.get(dialect) ?? new WeakMap<Findable, DeferredListing>();
  listings.set(dialect, known);
  const before = known.get(found);
  if (before !== undefined) return before;
  const toolsOf = (names: readonly string[]): HostTool[] =>
    names.flatMap((name) => session.tool(name) ?? []);
  const kept = toolsOf(found.kept);
  const finder = found.finder === undefined ? [] : toolsOf([found.finder]);
  const listing = listingWith(session, dialect, [...kept, ...finder, ...toolsOf(found.others)]);
  const { shown } = listing;
  const made: DeferredListing = {
    ...listing,
    kept: shown.slice(0, kept.length),
    finder: finder.length === 0 ? undefined : shown[kept.length],
    deferred: shown.slice(kept.length + finder.length),
  };
  known.set(found, made);
  return made;
}

/** The tools that `find_tools` has found, if the call was one to it. */
export interface FoundTools {
  /** The shown names of the tools that the session lists now. */
  readonly loaded: readonly string[];
  /** What a definition does not contain: which tools need an approval, and which do not fit. */
  readonly notes: string;
}

/**
 * Reads the output of a session's `find_tools`; undefined for any other call.
 * @param known Maps shown names to the names of tools.
 */
export function foundTools(
  session: ToolSession,
  known: ReadonlyMap<string, string>,
  toolName: string,
  output: unknown,
): FoundTools | undefined {
  const finder = inspectSession(session).findable?.finder;
  if (finder === undefined || toolName !== finder || !isJsonObject(output as JsonObject))
    return undefined;
  const { tools } = output as { readonly tools?: unknown };
  if (!Array.isArray(tools)) return undefined;
  const found = (tools as readonly unknown[]).filter((one) => isJsonObject(one as JsonObject)) as {
    readonly name: string;
    readonly requiresApproval?: unknown;
  }[];
  const listed = new Set(session.effectiveTools().names);
  const isListed = ({ name }: { readonly name: string }): boolean =>
    listed.has(known.get(name) ?? name);
  const namesWhere = (test: (one: (typeof found)[number]) => boolean): string =>
    found
      .filter(test)
      .map(({ name }) => `\`${name}\``)
      .join(', ');
  const asking = namesWhere(({ requiresApproval }) => requiresApproval === true);
  const leftOut = namesWhere((one) => !isListed(one));
  const notes = [
    found.length === 0 ? 'No tool fits. Describe the task in other words.' : '',
    asking === '' ? '' : `A call needs an approval: ${asking}.`,
    leftOut === '' ? '' : `Ask again with a smaller \`limit\` to use: ${leftOut}.`,
  ];
  return {
    loaded: found.filter(isListed).map(({ name }) => name),
    notes: notes.filter((note) => note !== '').join('\n'),
  };
}
