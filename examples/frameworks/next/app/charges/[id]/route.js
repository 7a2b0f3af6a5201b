/** `GET /charges/:id` tells how far a job is. */

import { halyard, refusal } from "../../../lib/halyard.js";

export async function GET(_request, { params }) {
  try {
    const { id, state, result } = await halyard.jobs.get((await params).id);
    return Response.json({ id, state, result });
  } catch (error) {
    return refusal(error);
  }
}
