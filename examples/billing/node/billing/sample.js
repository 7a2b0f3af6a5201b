// billing/sample.js: ten subscriptions to try with. The last one's bank says no to every charge.

import { db } from "./db.js";
import { payments } from "./payments.js";

for (let n = 1; n <= 10; n += 1) {
  const id = `sub_${String(n).padStart(2, "0")}`;
  if (await db.subscriptions.find(id)) continue;
  const customer = await payments.addCustomer(n < 10 ? "tok_visa" : "tok_chargeCustomerFail");
  await db.subscriptions.insert({ id, customer_id: customer.id, price: 4800 });
  console.log(`${id}: ${customer.id}`);
}
