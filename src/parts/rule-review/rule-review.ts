/**
 * Reviews rules, and what else has conditions: whether they can match the tools that they are
 * about. What cannot is logged once, or thrown if the registry has `strictRules`.
 *
 * A rule that names its tools is reviewed when it is added, and when its tools are registered. Any
 * other rule may also be about tools that come later, so it is reviewed when it is added, and when
 * a session is created.
 */

import type { RuleFault } from '../../api/explanation.ts';
import type { RegistryState } from '../../core/registry/registry-state.ts';
import type { Conditioned } from '../../core/rules/conditioned.ts';
import type { CompiledRule } from '../../core/rules/rule.ts';
import { everyRule, scopeOf } from '../../core/rules/rule-use.ts';
import type { Review } from '../../core/session/session-ports.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import type { ToolEntry } from '../../core/tool/tool-entry.ts';
import { type MisuseCode, MisuseError } from '../../values/errors/index.ts';
import { caution } from '../../values/logging.ts';
import { shortened } from '../../values/text/characters.ts';
import { ruleFaults } from './rule-faults.ts';

export type Reviewed = CompiledRule | Conditioned;

/** Tools that will be registered, and one that they replace. */
interface Change {
  readonly entries: readonly ToolEntry[];
  readonly replaced: ToolEntry | undefined;
}

interface Table {
  all(): readonly ToolEntry[];
  /** All versions of a tool. */
  named(name: string): readonly ToolEntry[];
}

/** Steps for one review, which take some tens of milliseconds. */
const maxSteps = 50_000;
/** Most rules that are reported. They are remembered, so that they are not reviewed again. */
const maxTold = 1_000;
/** Most rules in which nothing was found that are remembered. */
const maxClean = 1_000;
/** Most characters of what is remembered of a rule. */
const maxKeyChars = 2_000;

export class RuleReview implements Review {
  /** For commands that report what is wrong with rules in their own way, or have no time for it. */
  isOff = false;
  readonly #registry: RegistryState;
  readonly #strict: boolean;
  /** Rules that can match, that were reported, or that take too long to judge. */
  readonly #done = new WeakSet<Reviewed>();
  /** Rules that were reported, by what they say: each session compiles its own anew. */
  readonly #told = new Set<string>();
  /** What was added since several changes began, as when a file is applied. */
  #waiting: { readonly added: Set<unknown>; readonly names: Set<string> } | undefined;
  #epoch = -1;
  /** Rules of sessions in which nothing was found since something changed, by what they say. */
  readonly #clean = { epoch: -1, keys: new Set<string>() };

  constructor(registry: RegistryState, strict: boolean) {
    this.#registry = registry;
    this.#strict = strict;
  }

  get #isOn(): boolean {
    return !this.isOff && !this.#registry.isTrial;
  }

  /** @throws MisuseError `invalid_rule`, `invalid_quota` with `strictRules`. */
  added(all: readonly Reviewed[]): void {
    if (!this.#isOn) return;
    if (this.#waiting === undefined) this.#review(all, () => true);
    else for (const one of all) this.#waiting.added.add(one);
  }

  /**
   * Reviews the rules that name these tools, which will be registered.
   * @param replaced A tool that goes away.
   * @throws as {@link added}.
   */
  registering(entries: readonly ToolEntry[], replaced?: ToolEntry, session?: SessionState): void {
    if (!this.#isOn) return;
    const names = new Set(entries.map(({ name }) => name));
    if (this.#waiting !== undefined) {
      for (const name of names) this.#waiting.names.add(name);
      return;
    }
    const isNamed = namesOneOf(names);
    this.#review(this.#all(session), isNamed, session, { entries, replaced });
  }

  /** Reviews the rules that do not name their tools, if something has changed. */
  opening(): void {
    const { epoch } = this.#registry;
    if (!this.#isOn || this.#epoch === epoch) return;
    const isDue = (one: Reviewed): boolean => one.names === undefined && !this.#done.has(one);
    this.#review(this.#all(), isDue);
    this.#epoch = epoch;
  }

  /** Puts reviews off until {@link settle}. */
  wait(): void {
    this.#waiting ??= { added: new Set(), names: new Set() };
  }

  /** Drops what was put off, because the changes were undone. */
  drop(): void {
    this.#waiting = undefined;
  }

  /** Reviews what was put off. If it throws, reviews are put off until {@link drop}. */
  settle(): void {
    if (this.#waiting === undefined) return;
    const { added, names } = this.#waiting;
    const isNamed = namesOneOf(names);
    if (this.#isOn && added.size + names.size > 0)
      this.#review(this.#all(), (one) => added.has(one) || isNamed(one));
    this.#waiting = undefined;
  }

  /**
   * What is wrong with one of them. A rule that names a tool that is not there is not judged.
   * @param isWhole Whether no more tools will come. Otherwise, only a rule that names its tools is
   * judged.
   */
  faultsOf(one: Reviewed, isWhole: boolean): readonly RuleFault[] {
    const table = this.#table();
    const isDue = (isWhole || one.names !== undefined) && this.#isDue(one, table);
    return isDue ? this.#faultsOf(one, table, { left: maxSteps }) : [];
  }

  /** What is wrong with those that apply to a tool of a session. */
  faultsIn(session: SessionState, all: readonly Reviewed[]): readonly RuleFault[] {
    const table = this.#table(session);
    const budget = { left: maxSteps };
    return all.flatMap((one) =>
      this.#isDue(one, table) ? this.#faultsOf(one, table, budget) : [],
    );
  }

  #all(session?: SessionState): readonly Reviewed[] {
    const registry = this.#registry;
    const all: Reviewed[] = [...everyRule(registry), ...(session?.rules ?? [])];
    for (const conditioned of registry.ports.conditioned) {
      all.push(...conditioned(registry));
      if (session !== undefined) all.push(...conditioned(session.setup));
    }
    return all;
  }

  #review(
    all: readonly Reviewed[],
    isDue: (one: Reviewed) => boolean,
    session?: SessionState,
    change?: Change,
  ): void {
    const due = all.filter(isDue);
    if (due.length === 0 || this.#told.size >= maxTold) return;
    const table = this.#table(session, change);
    const budget = { left: maxSteps };
    // Without a session and a change, nothing but the tools of the registry is looked at.
    const clean = session === undefined && change === undefined ? this.#cleanNow() : undefined;
    for (const one of due) {
      if (budget.left < 0) return;
      const isOfSession = one.layer === 'session' && clean !== undefined;
      const key = isOfSession || this.#told.size > 0 ? keyOf(one) : '';
      if (this.#told.has(key) || (isOfSession && clean.has(key)) || !this.#isDue(one, table))
        continue;
      const faults = this.#faultsOf(one, table, budget);
      if (faults.length === 0 || !this.#strict) this.#done.add(one);
      if (faults.length === 0 && isOfSession) clean.add(key);
      for (const fault of faults) this.#tell(fault, 'effect' in one ? 'rule' : one.noun);
      if (faults.length > 0) this.#told.add(keyOf(one));
    }
  }

  #cleanNow(): Set<string> {
    const { epoch } = this.#registry;
    const { keys } = this.#clean;
    if (this.#clean.epoch !== epoch || keys.size >= maxClean) keys.clear();
    this.#clean.epoch = epoch;
    return keys;
  }

  #isDue(one: Reviewed, table: Table): boolean {
    // A tool that is still missing may have what the rule looks for.
    if (one.names !== undefined) return one.names.every((name) => table.named(name).length > 0);
    // Tools that parts bring say nothing about those of the host.
    const { own: ownTools } = this.#registry.ports.tools;
    return isAny(this.#toolsOf(one, table), ({ definition }) => !ownTools.has(definition));
  }

  #faultsOf(one: Reviewed, table: Table, budget: { left: number }): readonly RuleFault[] {
    return ruleFaults(one, this.#toolsOf(one, table), budget);
  }

  /** The tools that one of them is about. A rule of a scope is about those of the scope. */
  *#toolsOf(one: Reviewed, table: Table): Generator<ToolEntry> {
    const entries = one.names?.flatMap((name) => table.named(name)) ?? table.all();
    const source = 'effect' in one ? scopeOf(this.#registry.rules, one) : undefined;
    for (const entry of entries)
      if ((source ?? entry.source) === entry.source && one.appliesTo(entry.summary)) yield entry;
  }

  /** All tools of a registry, and of a session, as they will be after a change. */
  #table(session?: SessionState, change?: Change): Table {
    const registry = this.#registry;
    const isKept = (entry: ToolEntry): boolean => entry !== change?.replaced;
    const more = [...(session?.tools.own?.values() ?? []), ...(change?.entries ?? [])];
    let all: readonly ToolEntry[] | undefined;
    return {
      all: () => (all ??= [...registry.catalogue.names.all(), ...more].filter(isKept)),
      named: (name) =>
        [
          ...registry.catalogue.names.of(name),
          ...more.filter((entry) => entry.name === name),
        ].filter(isKept),
    };
  }

  #tell({ ruleId, source, message }: RuleFault, what: string): void {
    const text = `The ${what} \`${ruleId}\` (${source}) does not do what it says: ${message}`;
    if (this.#strict) throw new MisuseError(`invalid_${what}` as MisuseCode, text);
    caution(this.#registry.settings, { ruleId, source }, text);
  }
}

function keyOf(one: Reviewed): string {
  const { layer, id, about, when } = one;
  const more = 'effect' in one ? one.effect : one.more;
  const key = JSON.stringify([
    layer,
    id,
    about,
    when.map(({ field, written }) => [field, written]),
    more,
  ]);
  return `${key.length} ${shortened(key, maxKeyChars)}`;
}

function namesOneOf(names: ReadonlySet<string>): (one: Reviewed) => boolean {
  return (one) => one.names?.some((name) => names.has(name)) === true;
}

function isAny<T>(list: Iterable<T>, test: (one: T) => boolean): boolean {
  for (const one of list) if (test(one)) return true;
  return false;
}
