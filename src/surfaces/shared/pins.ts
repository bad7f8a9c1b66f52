/**
 * Which definitions of a server may be called. Each is known by its fingerprint; a changed one may
 * be called only after someone has accepted it.
 */

import { type AnyTool, MisuseError } from '../../core.ts';
import type { OutsideOrigin, OutsidePlace } from '../../extend.ts';
import { describe } from '../../values/errors/index.ts';

/** The host's labels of fields. */
export type FieldLabels = NonNullable<OutsideOrigin['labels']>;

/** A tool whose definition differs from the accepted one. */
export interface PinDrift {
  /** Its name, prefix included. */
  readonly name: string;
  /** The accepted fingerprint; undefined for a tool that has not been accepted yet. */
  readonly pinned: string | undefined;
  /**
   * The fingerprint of what the server offers now; undefined if it no longer offers the tool, or
   * offers it in a form that is refused.
   */
  readonly found: string | undefined;
}

/** One tool name, with every definition that it ever had. */
interface Cell {
  /** The definition that the server offers now. */
  offered: AnyTool<unknown> | undefined;
  /** The definition that may be called. */
  active: AnyTool<unknown> | undefined;
  readonly places: Set<WeakRef<OutsidePlace>>;
}

/** The definitions of one server, and which of them may be called. */
export interface Ledger {
  /** Those that may be called, in the server's order. */
  readonly tools: readonly AnyTool<unknown>[];
  readonly pins: Readonly<Record<string, string>>;
  readonly drift: readonly PinDrift[];
  /** The number of remembered names. */
  readonly size: number;
  /** The definition that the server offers under a name, accepted or not. */
  found(name: string): AnyTool<unknown> | undefined;
  /**
   * Ties a definition that is about to be made to its name. The caller sets the fingerprint once it
   * is known.
   */
  originOf(
    name: string,
    source: string,
    labels?: FieldLabels,
    said?: OutsideOrigin['said'],
  ): OutsideOrigin & { fingerprint: string };
  /** Takes in a whole listing. */
  offer(definitions: readonly AnyTool<unknown>[]): void;
  /**
   * @throws MisuseError `unknown_tool`, or `invalid_option` if `found` is no longer what the server
   * offers.
   */
  accept(name: string, found: string | undefined): void;
  /** Stops updating the registries that hold the tools. */
  close(): void;
}

interface State {
  readonly follows: boolean;
  readonly plainOf: (definition: AnyTool<unknown>) => AnyTool<unknown>;
  readonly digestOf: (definition: AnyTool<unknown>) => string;
  readonly offers: string;
  /** Accepted fingerprints by name; undefined until the first listing if none were given. */
  accepted: Map<string, string> | undefined;
  readonly cells: Map<string, Cell>;
  /** The names of the last listing, in the server's order. */
  order: readonly string[];
}

/** How a ledger treats definitions. */
export interface LedgerOptions {
  /** Accepts every listing, where no pins are given. @default only the first one */
  readonly follows?: boolean | undefined;
  /**
   * The server's definition, for one to which the host has added labels. The server's is pinned and
   * reviewed. @default the definition itself
   */
  readonly plainOf?: ((definition: AnyTool<unknown>) => AnyTool<unknown>) | undefined;
  /** What is pinned of a definition. @default its fingerprint */
  readonly digestOf?: ((definition: AnyTool<unknown>) => string) | undefined;
  /** What offers the definitions, at the start of a message. @default The MCP server */
  readonly offers?: string | undefined;
}

/**
 * Makes a ledger. Without `pins`, the first listing is accepted as it is. With them, only the
 * definitions that they name are accepted.
 */
export function createLedger(
  pins: ReadonlyMap<string, string> | undefined,
  {
    follows = false,
    plainOf = (definition) => definition,
    digestOf = ({ fingerprint }) => fingerprint,
    offers = 'The MCP server',
  }: LedgerOptions = {},
): Ledger {
  const state: State = {
    follows: follows && pins === undefined,
    plainOf,
    digestOf,
    offers,
    accepted: pins === undefined ? undefined : new Map(pins),
    cells: new Map(),
    order: [],
  };
  const { cells } = state;
  return {
    get tools() {
      return state.order.flatMap((name) => cells.get(name)?.active ?? []);
    },
    get pins() {
      return Object.fromEntries(state.accepted ?? []);
    },
    get drift() {
      return driftOf(state);
    },
    get size() {
      return cells.size;
    },
    found: (name) => {
      const offered = cells.get(name)?.offered;
      return offered === undefined ? undefined : plainOf(offered);
    },
    originOf: (name, source, labels, said) => originOf(state, name, source, labels, said),
    offer: (definitions) => offer(state, definitions),
    accept: (name, found) => accept(state, name, found),
    close() {
      for (const cell of cells.values()) cell.places.clear();
    },
  };
}

/** The fingerprint of the server's definition, without the host's labels. */
function printOf(
  { plainOf, digestOf }: State,
  definition: AnyTool<unknown> | undefined,
): string | undefined {
  return definition === undefined ? undefined : digestOf(plainOf(definition));
}

function driftOf(state: State): readonly PinDrift[] {
  const { accepted, cells, order } = state;
  const names = new Set([...order, ...(accepted?.keys() ?? [])]);
  return [...names].flatMap((name): PinDrift[] => {
    const [pinned, found] = [accepted?.get(name), printOf(state, cells.get(name)?.offered)];
    return pinned === found ? [] : [{ name, pinned, found }];
  });
}

/** Looks up the cell by name each time, because a cell may be dropped and created again. */
function originOf(
  state: State,
  name: string,
  source: string,
  labels: FieldLabels | undefined,
  said: OutsideOrigin['said'],
): OutsideOrigin & { fingerprint: string } {
  const origin = {
    source,
    labels,
    said,
    fingerprint: '',
    withdrawn: () => {
      // Looking must not create a cell.
      const cell = state.cells.get(name);
      if (cell?.active !== undefined && printOf(state, cell.active) === origin.fingerprint)
        return undefined;
      return cell?.offered === undefined ? 'removed' : 'definition_changed';
    },
    onRegistered: (place: OutsidePlace) => {
      const { active, places } = cellOf(state.cells, name);
      places.add(new WeakRef(place));
      // The ledger may have moved on since the host was given the definition.
      if (active !== undefined && printOf(state, active) !== origin.fingerprint)
        place.replace(active as AnyTool);
    },
  };
  return origin;
}

function cellOf(cells: Map<string, Cell>, name: string): Cell {
  const cell = cells.get(name) ?? { offered: undefined, active: undefined, places: new Set() };
  cells.set(name, cell);
  return cell;
}

function offer(state: State, definitions: readonly AnyTool<unknown>[]): void {
  const { cells } = state;
  const names = new Set(definitions.map(({ name }) => name));
  for (const definition of definitions) {
    const cell = cellOf(cells, definition.name);
    // An unchanged definition keeps its object, so that what registries hold is what is listed.
    const print = printOf(state, definition);
    if (printOf(state, cell.offered) !== print)
      cell.offered = printOf(state, cell.active) === print ? cell.active : definition;
  }
  for (const [name, cell] of cells) if (!names.has(name)) cell.offered = undefined;
  if (state.follows) state.accepted = undefined;
  state.accepted ??= new Map(definitions.map((one) => [one.name, printOf(state, one) as string]));
  state.order = [...names];
  for (const name of cells.keys()) settle(state, name);
  dropUnused(cells, state.accepted);
}

/** A server that offers different names in each listing must not fill the memory. */
function dropUnused(cells: Map<string, Cell>, accepted: ReadonlyMap<string, string>): void {
  for (const [name, cell] of cells) {
    for (const ref of cell.places) if (ref.deref() === undefined) cell.places.delete(ref);
    if (
      cell.offered === undefined &&
      cell.active === undefined &&
      accepted.has(name) !== true &&
      cell.places.size === 0
    )
      cells.delete(name);
  }
}

function accept(state: State, name: string, found: string | undefined): void {
  const { accepted } = state;
  const offered = state.cells.get(name)?.offered;
  if (offered === undefined && accepted?.has(name) !== true)
    throw new MisuseError(
      'unknown_tool',
      `${state.offers} offers no tool ${describe(name)}, and no pin has that name, so there is ` +
        'nothing to accept.',
    );
  if (found !== undefined && printOf(state, offered) !== found)
    throw new MisuseError(
      'invalid_option',
      `The definition of \`${name}\` has changed again since you reviewed it. Review it again ` +
        'before you accept it.',
    );
  if (offered === undefined) accepted?.delete(name);
  else accepted?.set(name, printOf(state, offered) as string);
  settle(state, name);
}

/** Brings the active definition of a name up to date, and tells the registries that hold it. */
function settle(state: State, name: string): void {
  const { accepted, cells } = state;
  const cell = cellOf(cells, name);
  const { offered, active: before } = cell;
  const active =
    offered !== undefined && accepted?.get(name) === printOf(state, offered) ? offered : undefined;
  if (active === before) return;
  cell.active = active;
  for (const ref of cell.places) {
    const place = ref.deref();
    if (place === undefined) cell.places.delete(ref);
    else if (active === undefined) place.changed();
    else place.replace(active as AnyTool);
  }
}
