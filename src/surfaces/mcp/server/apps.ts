/**
 * MCP Apps: the tools that only an app may call, for clients that show apps, and the pages of the
 * apps.
 */
import type { HostTool, JsonObject, ToolSession } from '../../../core.ts';
import { inspectSession, inspectTool, type ToolView } from '../../../extend.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { isPageUri, pagesOf, pageUriIn } from '../sent.ts';

/** The type of a page, by the specification. */
const pageType = 'text/html;profile=mcp-app';
const maxHtmlChars = 4_000_000;
/** Milliseconds that the host's function may take for a page. */
const htmlMs = 10_000;

/** Whether a client says that it shows apps. */
export function showsApps(capabilities: unknown): boolean {
  const { extensions } = isJsonObject(capabilities) ? (capabilities as JsonObject) : {};
  return (
    isJsonObject(extensions) &&
    Object.hasOwn(extensions, 'io.modelcontextprotocol/ui') &&
    isJsonObject(extensions['io.modelcontextprotocol/ui'])
  );
}

/** The tools that a client gets, in the order of its list. */
export function toolsFor(session: ToolSession, apps: boolean): readonly HostTool[] {
  return apps ? [...session.tools(), ...inspectSession(session).appTools] : session.tools();
}

/**
 * The tools of a list that bring a page, by its address. If the tools of several sources name one
 * address, it is that of the first. Tools of one source share a page, of which one has the text.
 */
export function pageOwners(
  session: ToolSession,
  tools: readonly HostTool[],
): ReadonlyMap<string, Owner> {
  const owners = new Map<string, Owner>();
  const view = inspectSession(session);
  for (const { name, source } of tools) {
    const definition = view.definition(name);
    if (definition === undefined) continue;
    const tool = inspectTool(definition);
    const uri = pageUriIn(tool.said?._meta);
    if (!isPageUri(uri) || owners.has(uri)) continue;
    if (sentPages(tool) !== undefined || tool.ui?.html !== undefined)
      owners.set(uri, { name, source, tool });
  }
  return owners;
}

/** The tool that has a page. */
export interface Owner {
  readonly name: string;
  readonly source: string;
  readonly tool: ToolView;
}

/** The pages of the tools of a list, as resources. Never rejects. */
export async function listPages(
  session: ToolSession,
  tools: readonly HostTool[],
): Promise<readonly JsonObject[]> {
  const owners = pageOwners(session, tools);
  const servers = new Set([...owners.values()].flatMap(({ tool }) => sentPages(tool) ?? []));
  const lists = new Map(
    await Promise.all(
      [...servers].map(async (pages) => [pages, await pages.list().catch(() => [])] as const),
    ),
  );
  return [...owners].flatMap(([uri, { name, tool }]): JsonObject[] => {
    const pages = sentPages(tool);
    if (pages !== undefined) return lists.get(pages)?.filter((one) => one.uri === uri) ?? [];
    return tool.ui?.html === undefined ? [] : [{ uri, name, mimeType: pageType }];
  });
}

function sentPages({ said }: ToolView) {
  return said === undefined ? undefined : pagesOf.get(said);
}

/**
 * The page of a tool of a list; undefined if no such tool has one at this address.
 * @throws (rejects with) Error that a client may see
 */
export async function readPage(
  session: ToolSession,
  tools: readonly HostTool[],
  uri: string,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  const owner = pageOwners(session, tools).get(uri);
  if (owner === undefined) return undefined;
  const { name, tool } = owner;
  const { html } = tool.ui ?? {};
  const pages = sentPages(tool);
  if (pages === undefined && html === undefined) return undefined;
  try {
    if (pages !== undefined) return await pages.read(uri, signal);
    const text = typeof html === 'function' ? await inTime(html) : html;
    if (typeof text !== 'string' || text.length > maxHtmlChars)
      throw new Error(`Expected \`ui.html\` to return at most ${maxHtmlChars} characters.`);
    return { contents: [{ uri, mimeType: pageType, text: text.toWellFormed() }] };
  } catch (error) {
    const { registry } = inspectSession(session);
    registry.report(error, { toolName: name, source: 'ui' }, 'the page of an app is missing');
    // The error may quote what is not for a client.
    throw new Error(`The page of \`${name}\` cannot be read now.`, { cause: error });
  }
}

async function inTime(make: () => unknown): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`\`ui.html\` took longer than ${htmlMs} ms.`)),
      htmlMs,
    );
  });
  try {
    return await Promise.race([make(), late]);
  } finally {
    clearTimeout(timer);
  }
}
