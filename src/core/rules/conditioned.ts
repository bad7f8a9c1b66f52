/** What a part limits by conditions on the input of tools, as a review looks at it. */

import type { ToolSummary } from '../../api/tool.ts';
import type { JsonValue } from '../../values/json/index.ts';
import type { WrittenCondition } from './conditions.ts';

/** A path of the input at which a part reads, as a review tests it. */
export interface ReadPath {
  /** The field in which it was written. */
  readonly field: string;
  readonly path: readonly string[];
  /** The kinds of values that it can use. */
  readonly kinds: readonly ('integer' | 'fraction' | 'string' | 'boolean')[];
  /** What happens to calls if no tool has anything there. */
  readonly ifNothing: string;
  /** What happens to calls if tools only have values of other kinds there, and why. */
  readonly ifOthers: readonly [effect: string, why: string];
}

/** Something of a part with conditions like those of a rule. */
export interface Conditioned {
  /** What it is called in messages, and in the code of an error: `invalid_` and this. */
  readonly noun: string;
  readonly id: string;
  /** Where it was written: `registry`, `profile:<id>`, `session`, … */
  readonly layer: string;
  /** Which tools it is about, as it was written. */
  readonly about: JsonValue | undefined;
  /** The tools that it names; undefined if they are chosen otherwise. */
  readonly names: readonly string[] | undefined;
  readonly when: readonly WrittenCondition[];
  /** What else tells it from another of its layer, id and conditions. */
  readonly more: JsonValue;
  readonly reads: readonly ReadPath[];
  appliesTo(tool: ToolSummary): boolean;
}
