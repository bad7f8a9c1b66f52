/**
 * A session's tools for LangChain and LangGraph: the tools themselves, and a dispatcher for loops
 * of one's own.
 */

export type { LangChainDispatchOptions } from './dispatch-langchain.ts';
export { dispatchLangChain } from './dispatch-langchain.ts';
export type { LangChainFailure, LangChainOptions, LangChainTools } from './to-langchain-tools.ts';
export { toLangChainTools } from './to-langchain-tools.ts';
