/** Answers that send the caller elsewhere, which no call of this API does. */

const STATUSES = [301, 302, 303, 307, 308];

/**
 * @internal What to say about an answer with this status to a call of `url`; `undefined` when it
 * does not redirect. Of the target no more is told than its scheme and host: the rest may hold
 * secrets, and is of no use.
 */
export function redirection(
  status: number,
  url: string,
  location: string | undefined,
): string | undefined {
  if (!STATUSES.includes(status)) {
    return undefined;
  }
  const from = new URL(url);
  let to: URL;
  try {
    to = new URL(location ?? "", from);
  } catch {
    return "it redirects to nowhere that can be read";
  }
  if (location === undefined || !/^https?:$/.test(to.protocol)) {
    return "it redirects to nowhere that can be read";
  }
  return to.origin === from.origin
    ? `it redirects to another page of ${to.origin}, so what answers there is no Halyard server`
    : `it redirects to ${to.origin}; give that as the server's address`;
}
