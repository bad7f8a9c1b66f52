/** The test `matches` of a rule: a regular expression. */

import { type Check, isText } from '../../core/rules/rule-check.ts';
import { type CompilePart, globCost, onText } from '../../core/rules/scalar-tests.ts';
import { compilePattern } from '../../values/text/regex.ts';

/** For each instruction of a pattern; see the costs of the other tests. */
const patternCost = 1 / 16;

export const compileMatches: CompilePart = (operand, field, comparison, check: Check) => {
  check(isText(operand), field, 'a regular expression as a non-empty string', operand);
  const { matcher, size } = patternOf(operand, field, check);
  const cost = Math.max(globCost, size * patternCost);
  return onText((text) => matcher.test(text), comparison, cost);
};

/**
 * The host wrote the pattern, but the model writes the texts: only the linear engine may run it.
 */
function patternOf(source: string, field: string, check: Check): ReturnType<typeof compilePattern> {
  try {
    return compilePattern(source, { trusted: false });
  } catch (error) {
    check(
      false,
      field,
      'a regular expression that runs in linear time ' +
        `(${error instanceof Error ? error.message : 'refused'})`,
      source,
    );
  }
}
