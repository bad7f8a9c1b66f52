/**
 * Which definitions of a server stand: each is known by its fingerprint, and a changed one stands
 * only once somebody has accepted it.
 */

import { describe } from '../../errors.ts';
import { type AnyTool, MisuseError } from '../../index.ts';
import type { OutsideOrigin, OutsidePlace } from '../../surface-port.ts';

/** A tool that a server gives otherwise than it was accepted. */
export interface McpDrift {
  /** Its name, prefix included. */
  readonly name: string;
  /** The fingerprint that was accepted; undefined for a tool that nobody has accepted yet. */
  readonly pinned: string | undefined;
  /**
   * The fingerprint of what the server gives now; undefined where it gives the tool no more, or in
   * a form that is refused.
   */
  readonly found: string | undefined;
}

/** A tool as it was accepted: what `host-tools mcp pin` writes. */
export interface McpPin {
  /** The accepted definition's. */
  readonly fingerprint: string;
}

/** One name, over all definitions that it ever had. */
interface Cell {
  /** What the server gives now. */
  offered: AnyTool<unknown> | undefined;
  /** What may be called. */
  standing: AnyTool<unknown> | undefined;
  readonly places: Set<WeakRef<OutsidePlace>>;
}

/** The definitions of one server, and which of them stand. */
export interface Ledger {
  /** Those that stand, in the server's order. */
  readonly tools: readonly AnyTool<unknown>[];
  readonly pins: Readonly<Record<string, string>>;
  readonly drift: readonly McpDrift[];
  /** How many names it remembers. */
  readonly size: number;
  /** What the server gives under a name, accepted or not. */
  found(name: string): AnyTool<unknown> | undefined;
  /**
   * Ties a definition that is about to be made to its name. The fingerprint is set once it is
   * known.
   */
  originOf(name: string, source: string): OutsideOrigin & { fingerprint: string };
  /** Takes a whole listing. */
  offer(definitions: readonly AnyTool<unknown>[]): void;
  /**
   * @throws MisuseError `unknown_tool`, or `invalid_option` where `found` is no longer what the
   * server gives.
   */
  accept(name: string, found: string | undefined): void;
  /** Whatever still asks for a tool is told that there is none. */
  close(): void;
}

/**
 * Makes a ledger. Without `pins`, the first listing is accepted as it is; with them, only what they
 * name.
 */
export function createLedger(pins: ReadonlyMap<string, string> | undefined): Ledger {
  let accepted = pins === undefined ? undefined : new Map(pins);
  const cells = new Map<string, Cell>();
  let order: readonly string[] = [];

  const cellOf = (name: string): Cell => {
    let cell = cells.get(name);
    if (cell === undefined) {
      cell = { offered: undefined, standing: undefined, places: new Set() };
      cells.set(name, cell);
    }
    return cell;
  };
  /** Brings a name to where it belongs, and tells the registries that hold it. */
  const settle = (name: string): void => {
    const cell = cellOf(name);
    const { offered, standing: before } = cell;
    const stands =
      offered !== undefined && accepted?.get(name) === offered.fingerprint ? offered : undefined;
    if (stands === before) return;
    cell.standing = stands;
    for (const ref of cell.places) {
      const place = ref.deref();
      if (place === undefined) cell.places.delete(ref);
      else if (stands === undefined) place.changed();
      else place.replace(stands as AnyTool);
    }
  };
  return {
    get tools() {
      return order.flatMap((name) => cells.get(name)?.standing ?? []);
    },
    get pins() {
      return Object.fromEntries(accepted ?? []);
    },
    get drift() {
      const names = new Set([...order, ...(accepted?.keys() ?? [])]);
      return [...names].flatMap((name): McpDrift[] => {
        const [pinned, found] = [accepted?.get(name), cells.get(name)?.offered?.fingerprint];
        return pinned === found ? [] : [{ name, pinned, found }];
      });
    },
    get size() {
      return cells.size;
    },
    found: (name) => cells.get(name)?.offered,
    originOf(name, source) {
      // By name, for a cell may be let go of and made again; looking makes none.
      const origin = {
        source,
        fingerprint: '',
        withdrawn: () => {
          const cell = cells.get(name);
          if (cell?.standing !== undefined && cell.standing.fingerprint === origin.fingerprint)
            return undefined;
          return cell?.offered === undefined ? 'removed' : 'definition_changed';
        },
        stands: (place: OutsidePlace) => {
          const cell = cellOf(name);
          cell.places.add(new WeakRef(place));
          // The ledger may have moved on since the host was given the definition.
          if (cell.standing !== undefined && cell.standing.fingerprint !== origin.fingerprint)
            place.replace(cell.standing as AnyTool);
        },
      };
      return origin;
    },
    offer(definitions) {
      const names = new Set(definitions.map(({ name }) => name));
      for (const definition of definitions) {
        const cell = cellOf(definition.name);
        // The same again stays the same object: what registries hold is what is listed.
        if (cell.offered?.fingerprint !== definition.fingerprint) {
          cell.offered =
            cell.standing?.fingerprint === definition.fingerprint ? cell.standing : definition;
        }
      }
      for (const [name, cell] of cells) if (!names.has(name)) cell.offered = undefined;
      accepted ??= new Map(definitions.map(({ name, fingerprint }) => [name, fingerprint]));
      order = [...names];
      for (const name of cells.keys()) settle(name);
      // A server that gives other names in each listing leaves nothing behind.
      for (const [name, cell] of cells) {
        for (const ref of cell.places) if (ref.deref() === undefined) cell.places.delete(ref);
        if (
          cell.offered === undefined &&
          cell.standing === undefined &&
          accepted.has(name) !== true &&
          cell.places.size === 0
        )
          cells.delete(name);
      }
    },
    accept(name, found) {
      const offered = cells.get(name)?.offered;
      if (offered === undefined && accepted?.has(name) !== true)
        throw new MisuseError(
          'unknown_tool',
          `The MCP server gives no tool ${describe(name)} that could be accepted.`,
        );
      if (found !== undefined && offered?.fingerprint !== found)
        throw new MisuseError(
          'invalid_option',
          `The definition of \`${name}\` has changed again since it was looked at. Look at it ` +
            'anew.',
        );
      if (offered === undefined) accepted?.delete(name);
      else accepted?.set(name, offered.fingerprint);
      settle(name);
    },
    close() {
      for (const cell of cells.values()) cell.places.clear();
    },
  };
}
