/** Keywords that combine schemas: allOf, anyOf, oneOf, not, if. */
import type { JsonValue } from '../json/index.ts';
import { type Check, type Context, fail, holds, isDone, maxIssues } from './compile-context.ts';

/**
 * Combines checks that must all hold. On the second pass all of them run. Undefined without any
 * check.
 */
export function allCheck(checks: readonly Check[]): Check | undefined {
  if (checks.length < 2) return checks[0];
  const [first, second, third] = checks as readonly [Check, Check, ...Check[]];
  if (third === undefined) {
    return (value, context) => {
      if (first(value, context)) return second(value, context);
      if (!isDone(context)) second(value, context);
      return false;
    };
  }
  return (value, context) => {
    let valid = true;
    for (let index = 0; index < checks.length; index++) {
      if ((checks[index] as Check)(value, context)) continue;
      if (isDone(context)) return false;
      valid = false;
    }
    return valid;
  };
}

/** Checks `anyOf`. */
export function anyCheck(checks: readonly Check[]): Check {
  return (value, context) => {
    const { issues } = context;
    context.issues = undefined;
    let found = false;
    for (let index = 0; index < checks.length && !found; index++)
      found = (checks[index] as Check)(value, context);
    context.issues = issues;
    return found || failBranches(checks, value, context);
  };
}

/** Checks `oneOf`. */
export function oneCheck(checks: readonly Check[]): Check {
  return (value, context) => {
    const { issues } = context;
    context.issues = undefined;
    let count = 0;
    for (let index = 0; index < checks.length && count < 2; index++)
      if ((checks[index] as Check)(value, context)) count++;
    context.issues = issues;
    if (count === 1) return true;
    return count === 0
      ? failBranches(checks, value, context)
      : fail(context, 'must match exactly one of the allowed forms, matches several');
  };
}

/**
 * Reports the issues of the branch that the value was meant for, if it can be identified: the only
 * branch whose issues are all inside the value.
 */
function failBranches(checks: readonly Check[], value: JsonValue, context: Context): false {
  const { issues } = context;
  if (issues === undefined) return false;
  let meant: { path: string; message: string }[] | undefined;
  let close = 0;
  const expected: string[] = [];
  for (const check of checks) {
    const found: { path: string; message: string }[] = [];
    context.issues = found;
    check(value, context);
    const here = found.find(({ path }) => path === '');
    if (here === undefined) {
      close++;
      meant = found;
    } else expected.push(here.message);
  }
  context.issues = issues;
  if (close === 1 && meant !== undefined) {
    issues.push(...meant.slice(0, maxIssues - issues.length));
    return false;
  }
  const unique = [...new Set(expected)];
  return fail(
    context,
    close === 0 && unique.length <= 4
      ? unique.join(', or ')
      : `must match one of ${checks.length} allowed forms`,
  );
}

/** Checks `not`. */
export function notCheck(check: Check): Check {
  return (value, context) =>
    !holds(check, value, context) || fail(context, 'must not match the schema under `not`');
}

/** Checks `if` with `then` and `else`. */
export function conditionCheck(
  condition: Check,
  then: Check | undefined,
  otherwise: Check | undefined,
): Check {
  return (value, context) => {
    const branch = holds(condition, value, context) ? then : otherwise;
    return branch === undefined || branch(value, context);
  };
}
