/** What a rule is: as a host writes it, and as the gates run it. */
import type { JsonPrimitive } from '../json.ts';
import type { ToolAnnotations, ToolSummary } from '../tool-summary.ts';
import type { Judged } from './conditions.ts';
import type { Effect } from './decision.ts';

/**
 * Matches a whole text, case-sensitively. `*` matches any run of characters, `?` exactly one;
 * nothing else is special.
 */
export type Glob = string;

/**
 * One test of the scalars at a path. `equals` and `in` compare with values; `matches` is an
 * unanchored regular expression that runs in linear time; `glob` is a {@link Glob}. In an `allow`, a
 * value must have the type that the rule names, and only strings can match `matches` and `glob`. In
 * a `deny` or `ask`, numbers and booleans are also compared by their JSON text, so that sending
 * `"22"` instead of `22` does not evade the rule.
 */
export type WhenTest =
  | { readonly in: readonly JsonPrimitive[] }
  | { readonly equals: JsonPrimitive }
  | { readonly matches: string }
  | { readonly glob: Glob };

/** A decision as plain data, loadable from YAML. A field that is left out restricts nothing. */
export interface Rule {
  /**
   * Appears as `ruleId` in errors, events and approval requests. @default the layer and the index,
   * such as `session#0`
   */
  readonly id?: string | undefined;
  /**
   * What the rule decides about the calls that it matches. A deny beats an ask and an ask beats an
   * allow; the order of rules does not matter.
   */
  readonly effect: Effect;
  /** Tool names. @default every tool */
  readonly tools?: Glob | readonly Glob[] | undefined;
  /** Matches tools that have at least one of these tags. */
  readonly tags?: string | readonly string[] | undefined;
  /**
   * Matches tools whose annotations have all of these values. An annotation that the tool does not
   * set counts as false.
   */
  readonly annotations?: ToolAnnotations | undefined;
  /** The source that the tool was registered from. */
  readonly source?: Glob | undefined;
  /**
   * Conditions on the input, all of which must hold. Either a map from paths (`"a.b"`; `*` walks
   * arrays) to a scalar or a test, or a list whose paths are lists, for keys that contain dots. The
   * input is read both as it was sent and as the handler gets it: a `deny` or `ask` matches if
   * either one matches, an `allow` only if both do. A path that only one of them has is judged
   * there; if both lack it, the rule does not match.
   */
  readonly when?:
    | Readonly<Record<string, JsonPrimitive | WhenTest>>
    | readonly ({ readonly path: readonly string[] } & WhenTest)[]
    | undefined;
  /** The reason of a deny. Must match `^[a-z][a-z0-9_]*$`. @default 'denied_by_rule' */
  readonly reason?: string | undefined;
  /**
   * Tries the rule without enforcing it. It is matched and counted like any other, and
   * `policy:shadow` reports each call that it would have decided differently, but it changes no
   * result, hides no tool and asks nobody. @default false
   */
  readonly shadow?: boolean | undefined;
}

/** Whether a rule has matched yet. The only part of a compiled rule that changes. */
export interface RuleUse {
  matched: boolean;
}

/** A checked rule. It is frozen and shares nothing with the host's object. */
export interface CompiledRule {
  readonly id: string;
  readonly effect: Effect;
  /** Only a deny has one. */
  readonly reason: string | undefined;
  /** Where the rule was written: `registry`, `profile:<id>`, `session`, … */
  readonly layer: string;
  /** Whether the rule depends on the input. A deny that does not also hides the tool. */
  readonly hasWhen: boolean;
  /** The rule is only tried: it must not change any outcome. */
  readonly shadow: boolean;
  readonly use: RuleUse;
  /** The part that no input changes: names, tags, annotations, source. */
  appliesTo(tool: ToolSummary): boolean;
  /**
   * The `when` part, judged on the input as sent and as parsed. True without a `when`. @throws
   * `overBudget`.
   */
  matches(judged: Judged): boolean;
}
