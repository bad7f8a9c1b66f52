/**
 * Loads the optional package with LangChain's classes on first use. It loads synchronously, because
 * tools are listed synchronously.
 */
import { packageFault, requirePackage } from '../../values/packages/missing-package.ts';

/** The parts of `@langchain/core` that are used. */
export interface LangChainCore {
  readonly DynamicStructuredTool: typeof import('@langchain/core/tools').DynamicStructuredTool;
  readonly ToolMessage: typeof import('@langchain/core/messages').ToolMessage;
}

/**
 * Loads the package.
 * @throws MisuseError `missing_dependency` if it is not installed.
 * @param load Loads a module of the package.
 */
export function loadCore(load: (specifier: string) => unknown = requirePackage): LangChainCore {
  try {
    const { DynamicStructuredTool } = load('@langchain/core/tools') as LangChainCore;
    const { ToolMessage } = load('@langchain/core/messages') as LangChainCore;
    return { DynamicStructuredTool, ToolMessage };
  } catch (error) {
    throw packageFault('@langchain/core', 'has the classes of tools and messages', error);
  }
}
