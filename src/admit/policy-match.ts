/** Whether a list of the policy (`connector.action` and `connector.*`) covers an action. */
export function covers(list: readonly string[], action: string): boolean {
  const connector = action.slice(0, action.indexOf("."));
  return list.some((entry) => entry === action || entry === `${connector}.*`);
}
