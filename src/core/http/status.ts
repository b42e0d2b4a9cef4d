/**
 * Describes an unsuccessful answer. Redirects are not followed: credentials would be sent along, and the user should
 * know which server answers. @param setting where the address of the server was given
 */
export function refusalText(status: number, location: string | undefined, text: string, setting: string): string {
  const reason = text.slice(0, 500).trim();
  if (status < 300 || status > 399) return `HTTP ${status}: ${reason || 'no reason given'}`;
  return location === undefined
    ? `HTTP ${status}: a redirect that does not say where to; give the address of the server itself as ${setting}`
    : `HTTP ${status}: a redirect to ${location}; give that address as ${setting}`;
}
