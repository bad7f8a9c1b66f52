/** The definition of a rule, as a host writes it. */

import type { JsonPrimitive } from '../values/json/index.ts';
import type { Approvers } from './answers.ts';
import type { KnownContainers, Origin } from './origins.ts';
import type { Effect } from './policy.ts';
import type { ToolAnnotations } from './tool.ts';

/**
 * Matches a whole text, case-sensitively. `*` matches any run of characters, `?` exactly one;
 * nothing else is special.
 */
export type Glob = string;

/**
 * A test of the values at a path: a scalar, which they must equal, or an object of tests, which
 * must all hold for the same value. In an `allow`, a value must have the type that the test names.
 * In a `deny` or `ask`, numbers and booleans are also compared by their JSON text, and a string
 * that is a JSON number counts as that number, so that sending `"22"` instead of `22` does not
 * evade the rule. Inside `not`, it is the reverse.
 */
export type RuleTest = JsonPrimitive | WhenTest;

/** The object form of a {@link RuleTest}. At least one test is given. */
export interface WhenTest {
  /** The value equals this scalar. */
  readonly equals?: JsonPrimitive | undefined;
  /**
   * The value equals one of these scalars. With `{ fact }`, the list is that fact of the session,
   * read at each call. If the fact is absent or not a list, a `deny` or `ask` matches and an
   * `allow` does not.
   */
  readonly in?: readonly JsonPrimitive[] | { readonly fact: string } | undefined;
  /** The text matches this {@link Glob} as a whole. */
  readonly glob?: Glob | undefined;
  /** The text contains a match of this regular expression, which runs in linear time. */
  readonly matches?: string | undefined;
  /** The number is greater. */
  readonly gt?: number | undefined;
  /** The number is greater or equal. */
  readonly gte?: number | undefined;
  /** The number is less. */
  readonly lt?: number | undefined;
  /** The number is less or equal. */
  readonly lte?: number | undefined;
  /**
   * Whether the path leads to a value. `exists: false` and `not` are the only tests that hold for a
   * path without a value.
   */
  readonly exists?: boolean | undefined;
  /** A test of the number of code points of a string, or of elements of an array. */
  readonly size?: RuleTest | undefined;
  /**
   * The inner test fails: for some value in a `deny` or `ask`, for every value in an `allow`.
   */
  readonly not?: RuleTest | undefined;
  /**
   * The value has one of these origins. A `deny` or `ask` matches if one of the values at the path
   * does, an `allow` only if all of them do. In a text, the identifiers are judged. It tests
   * arguments, so it works only in `when`.
   */
  readonly origin?: Origin | readonly Origin[] | undefined;
  /**
   * The text looks like this one, or like one of these: written in look-alike letters, in another
   * case, or with white space or invisible characters in it. With `{ fact }`, the texts are that
   * fact of the session, read at each call; if it is neither a text nor a list, the rule matches.
   * Only in a `deny` or `ask`, and not below `not`.
   */
  readonly alike?: string | readonly string[] | { readonly fact: string } | undefined;
  /** At least one of these tests holds. */
  readonly any?: readonly RuleTest[] | undefined;
}

/** The object form of `origins` in a {@link Rule}. */
export interface RuleOrigins extends KnownContainers {
  /** The origins. */
  readonly of: Origin | readonly Origin[];
  /**
   * `urls`: only targets that are web addresses are judged.
   * @default all that is judged
   */
  readonly only?: 'urls' | undefined;
}

/** A decision as plain data, loadable from YAML. A field that is left out restricts nothing. */
export interface Rule {
  /**
   * Appears as `ruleId` in errors, events and approval requests. @default the layer and the index,
   * such as `session#0`
   */
  readonly id?: string | undefined;
  /**
   * The effect of the rule on the calls that it matches. A deny beats an ask, and an ask beats an
   * allow. The order of rules does not matter.
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
   * A test of the principal that the session acts for; `""` if it has none.
   * @default any principal
   */
  readonly principal?: RuleTest | undefined;
  /**
   * A test of the adapter that the call came through, such as `mcp`; `""` for a direct call.
   * @default any
   */
  readonly surface?: RuleTest | undefined;
  /**
   * Tests of who acts: `agent` is the name of the agent to which the session was delegated, and
   * absent for a direct call; `depth` is the number of agents in the chain, 0 for a direct call.
   * @default anyone
   */
  readonly actor?:
    | { readonly agent?: RuleTest | undefined; readonly depth?: RuleTest | undefined }
    | undefined;
  /** Tests of the session's facts by name, all of which must hold. */
  readonly facts?: Readonly<Record<string, RuleTest>> | undefined;
  /**
   * Conditions on the input, all of which must hold. Either a map from paths (`"a.b"`; `*` walks
   * arrays) to tests, or a list whose paths are lists, for keys that contain dots. The input is
   * read both as it was sent and as the handler gets it: a `deny` or `ask` matches if either one
   * matches, an `allow` only if both do. A path that only one of them has is judged there. A test
   * of an array holds for its elements, but `size` and `exists` are about the array itself.
   * `"payee@name"` reads the attribute `name` of what the tool's `attributes.payee` returned.
   */
  readonly when?:
    | Readonly<Record<string, RuleTest>>
    | readonly ({ readonly path: readonly string[] } & WhenTest)[]
    | undefined;
  /**
   * A test of the origins of the call's values: of every target, and of every identifier in a text.
   * A `deny` or `ask` matches if one of them has one of these origins. An `allow` matches if there
   * is at least one, and all of them do. The input is read both as it was sent and as the handler
   * gets it. See {@link RuleOrigins} for the object form.
   */
  readonly origins?: Origin | readonly Origin[] | RuleOrigins | undefined;
  /**
   * Who may answer the question of an ask, and how many of them have to allow the call. Where
   * several rules name approvers, each of these is needed. Needs the part `durableApprovals()`.
   * @default anyone who is asked
   */
  readonly approvers?: Approvers | undefined;
  /** The reason of a deny. Must match `^[a-z][a-z0-9_]*$`. @default 'denied_by_rule' */
  readonly reason?: string | undefined;
  /**
   * Tries the rule without enforcing it. It is matched and counted like any other, and
   * `policy:shadow` reports each call that it would have decided differently, but it changes no
   * result, hides no tool and asks for no approval. @default false
   */
  readonly shadow?: boolean | undefined;
}
