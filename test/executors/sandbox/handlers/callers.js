/** A handler that calls a tool on the same executor. */
export default async ({ tool }, { tools }) => {
  if (tool === undefined) return 'ran';
  const { output, error } = await tools.call(tool, {});
  return output ?? error.reason;
};
