// npm run demo: a scripted agent uses real tools through a coordinator, under three profiles. Reads
// this repository; changes only temporary copies of it.
// npm run demo -- --inspect: the same, slowly, with a page that shows it as it happens.
import {
  type ApprovalRequest,
  HostToolRegistry,
  mount,
  type ToolResult,
  type ToolSession,
} from '../src/index.ts';
import { createCoordinator } from './demo/coordinator.ts';
import { type DemoInspector, inspectDemo } from './demo/inspect.ts';
import { type Act, acts, type Step } from './demo/script.ts';
import { type StatusServer, startStatusServer } from './demo/status-server.ts';
import { createPaint } from './demo/terminal.ts';
import { callLines, outcomeOf, type Played, summaryLines } from './demo/transcript.ts';
import { createWorkspace, type Workspace } from './demo/workspace.ts';
import { exampleProfiles, exampleTools } from './profiles.ts';

type MountedTool = {
  execute(input: unknown, options?: { signal?: AbortSignal }): Promise<ToolResult>;
};

const paint = createPaint();
// Some terminals say that they have no columns at all.
const width = Math.max(60, Math.min(process.stdout.columns || 110, 120));
const print = (...lines: readonly string[]) => console.log(lines.join('\n'));
const played: Played[] = [];

/**
 * Plays one act as an orchestrator would: the coordinator's tools, by name, and nothing else of the
 * session.
 */
async function play(
  { profile, about, steps }: Act,
  registry: HostToolRegistry,
  workspace: Workspace,
  server: StatusServer,
  inspector: DemoInspector | undefined,
): Promise<void> {
  const person: { step?: Step; asked?: string } = {};
  const session = registry.createSession({
    sessionId: `demo-${profile}`,
    profile,
    cwd: profile === 'reviewer' ? workspace.source : workspace.copy,
    approver({ title, message }: ApprovalRequest) {
      const answer = person.step?.answer ?? 'reject_once';
      person.asked =
        `a person is asked: ${title}${message === undefined ? '' : ` (${message})`} → ` +
        `${answer}`;
      return answer;
    },
  });
  const coordinator = createCoordinator();
  const mounted = await mount(session, coordinator);
  print(
    '',
    paint('bold', `${profile}: ${about}`),
    paint('dim', `tools at the coordinator: ${mounted.mounted.join(', ')}`),
    '',
  );
  for (const step of steps) {
    await inspector?.pause();
    if (inspector?.isOver) break;
    delete person.asked;
    person.step = step;
    const result = await call(
      step,
      coordinator.get('tools') as Record<string, MountedTool>,
      session,
      server,
    );
    const outcome = outcomeOf(result);
    const asExpected =
      (outcome === step.expect || outcome.startsWith(`${step.expect} `)) &&
      (step.answer === undefined) === (person.asked === undefined);
    played.push({ profile, step, result, asked: person.asked, asExpected });
    print(...callLines(played[played.length - 1] as Played, played.length, width, paint));
  }
  await mounted.unmount();
  await session.close();
}

/**
 * A name that is not mounted goes to the session all the same, which is where the refusal comes
 * from.
 */
async function call(
  step: Step,
  tools: Record<string, MountedTool>,
  session: ToolSession,
  server: StatusServer,
): Promise<ToolResult> {
  const tool = tools[step.tool];
  const abort = new AbortController();
  if (step.abort) void server.slowRequest().then(() => abort.abort(new Error('the agent gave up')));
  return tool === undefined
    ? session.call(step.tool, step.input)
    : tool.execute(step.input, { signal: abort.signal });
}

async function main(): Promise<boolean> {
  const started = performance.now();
  const registry = new HostToolRegistry();
  const server = await startStatusServer();
  let workspace: Workspace | undefined;
  const inspector = process.argv.includes('--inspect') ? await inspectDemo(registry) : undefined;
  if (inspector !== undefined)
    print(
      `Watch the calls at ${paint('cyan', inspector.url)}`,
      'The demo begins when the page is open.',
    );
  try {
    if (inspector !== undefined) await Promise.race([inspector.opened, inspector.over]);
    if (inspector?.isOver) return true;
    workspace = await createWorkspace();
    registry.registerAll(exampleTools);
    for (const profile of exampleProfiles(server.origin)) registry.defineProfile(profile);
    const events = { started: 0, ended: 0 };
    registry.events.on('tool:pre', () => (events.started += 1));
    registry.events.on('tool:post', () => (events.ended += 1));
    registry.events.on('tool:error', () => (events.ended += 1));

    for (const act of acts) await play(act, registry, workspace, server, inspector);
    if (inspector?.isOver) return true;

    const unexpected = played.filter(({ asExpected }) => !asExpected).length;
    const pushed = (await workspace.pushed('release/demo')) !== undefined;
    const recorded = events.started === played.length && events.ended === played.length;
    print('', ...summaryLines(played, paint));
    print(
      `Events: ${events.started} calls began, ${events.ended} ended. The bare repository ` +
        `${pushed ? 'has' : 'does not have'} release/demo.`,
    );
    const wrong = [
      ...(unexpected === 0
        ? []
        : [`${unexpected} of ${played.length} calls went otherwise than expected`]),
      ...(recorded ? [] : ['the events do not match the calls']),
      ...(pushed ? [] : ['the push did not arrive']),
    ];
    const took = ((performance.now() - started) / 1_000).toFixed(1);
    const good = wrong.length === 0;
    print(
      good
        ? paint('green', `${played.length} calls, each as expected, in ${took} s.`)
        : paint('red', `Not as expected: ${wrong.join('; ')}.`),
    );
    if (inspector !== undefined) {
      print('', 'The page stays open until you press Ctrl+C.');
      await inspector.over;
    }
    return good;
  } finally {
    await inspector?.close();
    await registry.close();
    await server.close();
    await workspace?.remove();
  }
}

process.exitCode = (await main()) ? 0 : 1;
