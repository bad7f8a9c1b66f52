/** What a session with code mode lists, and what its programs may call. */

import type { SessionState } from '../../core/session/session-state.ts';
import type { Listing, View } from '../../core/session/view.ts';
import type { ToolEntry } from '../../core/tool/tool-entry.ts';
import { digest } from '../../core/toolset/effective.ts';
import { callable, canFind, declare } from './declarations.ts';
import { about } from './run-code.ts';
import type { Findable } from './session-port.ts';
import type { CodeSettings } from './settings.ts';

/** Why a tool is not listed: programs call it. */
const inCode = 'in_code';

/** Selects what a session lists, before code mode does. */
export type Select = ((session: SessionState, view: View) => Listing | undefined) | undefined;

interface Last {
  readonly base: Listing;
  readonly shows: boolean;
  readonly listing: Listing;
}

interface Declared {
  readonly base: Listing;
  readonly text: string;
}

/** The listing of one session. */
export class CodeListing {
  readonly #settings: CodeSettings;
  readonly #entry: ToolEntry;
  readonly #select: Select;
  #last: Last | undefined;
  #declared: Declared | undefined;
  #findable: { readonly found: Findable; readonly findable: Findable } | undefined;

  constructor(settings: CodeSettings, entry: ToolEntry, select: Select) {
    this.#settings = settings;
    this.#entry = entry;
    this.#select = select;
  }

  /** What the model is shown. */
  of(session: SessionState, view: View): Listing {
    const base = this.#select?.(session, view) ?? view;
    const shows = this.#isShown(session);
    const last = this.#last;
    if (last?.base === base && last.shows === shows) return last.listing;
    const listing = this.#made(session, base, shows);
    this.#last = { base, shows, listing };
    return listing;
  }

  #made(session: SessionState, base: Listing, shows: boolean): Listing {
    const { show, name } = this.#settings;
    if (!shows) return base;
    const { own: ownTools } = session.registry.ports.tools;
    const isKept = (one: string): boolean =>
      show === 'both' || ownTools.has((base.entries.get(one) as ToolEntry).definition);
    const kept = base.names.filter(isKept);
    const names = Object.freeze([...kept, name]);
    const entries = new Map<string, ToolEntry>(
      kept.map((one) => [one, base.entries.get(one) as ToolEntry]),
    );
    entries.set(name, this.#entry);
    const left = base.names.filter((one) => !isKept(one));
    const dropped = Object.freeze([
      ...base.dropped,
      ...left.map((one) => Object.freeze({ name: one, code: inCode })),
    ]);
    const { prerequisites } = base;
    // What programs may call is part of what the model is shown.
    const hash = digest({ names, dropped, prerequisites });
    return Object.freeze({ names, entries, dropped, prerequisites, hash });
  }

  /** The declarations of what programs may call. */
  declarations(session: SessionState): string {
    const view = session.registry.viewOf(session);
    const base = this.#select?.(session, view) ?? view;
    if (this.#declared?.base === base) return this.#declared.text;
    const entries = callable(session, base);
    const hidden = callable(session, view).length - entries.length;
    const { maxDeclarationTokens } = this.#settings;
    const text = declare(entries, hidden, maxDeclarationTokens, canFind(session));
    this.#declared = { base, text };
    return text;
  }

  /** What providers may be given of a session with discovery, which read definitions later. */
  findable<T extends Findable>(session: SessionState, found: T): T {
    const { show, name } = this.#settings;
    const shows = this.#isShown(session);
    if (!shows) return found;
    const last = this.#findable;
    if (last?.found === found) return last.findable as T;
    const { own: ownTools } = session.registry.ports.tools;
    const { entries } = session.registry.viewOf(session);
    const isKept = (one: string): boolean =>
      show === 'both' || ownTools.has((entries.get(one) as ToolEntry).definition);
    const kept = [...found.kept.filter(isKept), name];
    // Nothing is left to be read later, so its search is a tool as any other.
    const finder = found.finder === undefined ? [] : [found.finder];
    const findable = Object.freeze(
      show === 'both'
        ? { ...found, kept }
        : { ...found, kept: [...kept, ...finder], finder: undefined, others: [] },
    );
    this.#findable = { found, findable };
    return findable;
  }

  describe(session: SessionState): string {
    return `${about}\n\n${this.declarations(session)}`;
  }

  /** A rule or the host may hide it, as any other tool. */
  #isShown(session: SessionState): boolean {
    const binding = session.binding(this.#entry.name);
    return binding?.entry === this.#entry && binding.status.drop === undefined;
  }
}
