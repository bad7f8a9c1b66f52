/** A session's tools for LangChain and LangGraph, and a dispatcher for your own agent loop. */

export type { LangChainDispatchOptions } from './dispatch-langchain.ts';
export { dispatchLangChain } from './dispatch-langchain.ts';
export type { LangChainFailure, LangChainOptions, LangChainTools } from './to-langchain-tools.ts';
export { toLangChainTools } from './to-langchain-tools.ts';
