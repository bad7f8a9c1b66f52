// A run as lines that a person reads, the same at each run.
import type { ToolResult } from '../../src/index.ts';
import type {
  GenerateRequest,
  HostLoopResult,
  WorkflowState,
} from '../../src/surfaces/workflow/index.ts';

const MAX_CHARS = 100;

/** The plan of the batch that was just observed: calls side by side are joined by +. */
export function planLine({ batch }: WorkflowState): string {
  const nameOf = new Map(batch?.calls.map((call) => [call.id, call.name]));
  const groups = (batch?.groups ?? []).map((group) =>
    group.map((id) => nameOf.get(id)).join(' + '),
  );
  return groups.length === 0 ? 'nothing runs' : groups.join(', then ');
}

/** What the model was shown, what it said, how its calls were grouped, and what came of them. */
export function transcript(
  { messages, results }: HostLoopResult,
  requests: readonly Pick<GenerateRequest, 'toolNames'>[],
  plans: readonly string[],
): string[] {
  const lines: string[] = [];
  let [turn, batch, call, shown] = [0, 0, 0, ''];
  for (const { role, content, toolCalls } of messages) {
    if (role === 'tool') {
      const outcome = results[call];
      if (outcome !== undefined)
        lines.push(`    ${outcome.toolName}: ${codeOf(outcome.result)} | ${oneLine(content)}`);
      call += 1;
    } else if (role === 'assistant') {
      const names = requests[turn]?.toolNames ?? [];
      const list = names.join(', ');
      turn += 1;
      lines.push(
        '',
        `turn ${turn}, ${names.length === 1 ? '1 tool' : `${names.length} tools`}: ` +
          `${list === shown ? 'as before' : list}`,
        `  model: ${content}`,
      );
      shown = list;
      if (toolCalls === undefined) continue;
      lines.push(`  plan: ${plans[batch]}`);
      batch += 1;
    }
  }
  return lines;
}

function codeOf(result: ToolResult): string {
  return result.success
    ? 'ok'
    : [result.error.code, result.error.reason].filter((part) => part !== undefined).join(' ');
}

function oneLine(text: string): string {
  const line = text.trim().replaceAll(process.version, 'v…').replaceAll('\n', ' ⏎ ');
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS)}…` : line;
}
