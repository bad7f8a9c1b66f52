/** Whether what happened in a scenario is what the benchmark expects of it. */
import type { Line, Outcome, Played } from './play.ts';
import type { Check, Scenario, Which } from './scenarios.ts';

/** The checks of a scenario that do not hold. */
export function failedChecks({ checks }: Scenario, played: Played): readonly Check[] {
  return checks.filter((check) => !holds(check, played));
}

function holds(check: Check, { outcomes, lines, reachable, errors }: Played): boolean {
  switch (check.is) {
    case 'allowed':
    case 'denied': {
      const found = outcomes.filter((one) => fits(one, check.which));
      return found.length > 0 && found.every(({ allowed }) => allowed === (check.is === 'allowed'));
    }
    case 'at most': {
      const found = outcomes.filter((one) => fits(one, check.which));
      return found.filter(({ allowed }) => allowed).length <= check.allowed;
    }
    case 'recorded':
      return lines.some((line) => fits(line, check.line));
    case 'recorded for':
      return every(lines, check.tool, ({ actor_uid }) => actor_uid === check.person);
    case 'complete':
      return every(lines, check.tool, (line) =>
        check.fields.every((field) => line[field] !== undefined && line[field] !== ''),
      );
    case 'chain':
      return every(lines, check.tool, ({ chain }) => String(chain) === String(check.agents));
    case 'separate':
      return lines.every(({ tenant = '', tool = '' }) =>
        check.pairs.some(([ofTenant, ofTool]) => ofTenant === tenant && ofTool === tool),
      );
    case 'reachable':
      return reachable;
    case 'without errors':
      return errors.length === 0;
  }
}

/** Whether there are lines about a tool, and all of them are so. */
function every(lines: readonly Line[], tool: string, is: (line: Line) => boolean): boolean {
  const about = lines.filter((line) => line.tool === tool);
  return about.length > 0 && about.every(is);
}

function fits(one: Outcome | Line, wanted: Which | Line | Partial<Line>): boolean {
  return Object.entries(wanted).every(
    ([name, value]) => (one as unknown as Record<string, unknown>)[name] === value,
  );
}
