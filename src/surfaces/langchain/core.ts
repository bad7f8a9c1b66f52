/**
 * The optional package of LangChain's classes, loaded when it is first used. Synchronously, as
 * tools are listed.
 */
import { createRequire } from 'node:module';
import { packageFault } from '../../surface-port.ts';

/** What is used of `@langchain/core`. */
export interface LangChainCore {
  readonly DynamicStructuredTool: typeof import('@langchain/core/tools').DynamicStructuredTool;
  readonly ToolMessage: typeof import('@langchain/core/messages').ToolMessage;
}

/** @throws MisuseError `missing_dependency`. @param load how a module of the package is had. */
export function loadCore(
  load: (specifier: string) => unknown = createRequire(import.meta.url),
): LangChainCore {
  try {
    const { DynamicStructuredTool } = load('@langchain/core/tools') as LangChainCore;
    const { ToolMessage } = load('@langchain/core/messages') as LangChainCore;
    return { DynamicStructuredTool, ToolMessage };
  } catch (error) {
    throw packageFault('@langchain/core', 'has the classes of tools and messages', error);
  }
}
