/** A session's tools for LangChain and LangGraph: the tools themselves, and a dispatcher for loops of one's own. */

export type { LangChainDispatchOptions } from './langchain/dispatch-langchain.ts';
export { dispatchLangChain } from './langchain/dispatch-langchain.ts';
export type { LangChainFailure, LangChainOptions, LangChainTools } from './langchain/to-langchain-tools.ts';
export { toLangChainTools } from './langchain/to-langchain-tools.ts';
