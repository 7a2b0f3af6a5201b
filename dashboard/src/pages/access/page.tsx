/** Keys that open this server: who has which role, when each was last used; create and revoke. */
import { useState } from "preact/hooks";

import { type ApiKey, apiKeys, type CreatedApiKey, revokeApiKey } from "../../api/calls.ts";
import { forbidden, isOpen, session } from "../../live/access.ts";
import { useResource } from "../../live/resource.ts";
import { Action } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Empty, Shown } from "../../parts/shown.tsx";
import { ACTIONS, Table } from "../../parts/table.tsx";
import { Ago, At } from "../../parts/time.tsx";
import { visible } from "../../parts/visible.ts";
import { CreateKey, Made } from "./create.tsx";
import { ROLES } from "./roles.ts";

const COLUMNS = ["Name", "Role", "Id", "Created", "Last used", ACTIONS];

export function AccessPage() {
  const all = useResource("api-keys", apiKeys);
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<CreatedApiKey>();
  const [revoking, setRevoking] = useState<ApiKey>();
  return (
    <>
      <header class="head">
        <h1>Access</h1>
        <Action
          label="Create a key…"
          kind="main"
          unless={forbidden("api_keys")}
          onClick={() => setCreating(true)}
        />
      </header>
      <p class="lead">
        Programs and people call this server with keys, each with a role. A key that is set with{" "}
        <code>HALYARD_API_KEY</code> is not among these: it is an admin's, and changed where the
        server is started.
      </p>
      {isOpen.value && (
        <p class="card warn">
          <span aria-hidden="true">⚠</span> This server asks for no key: it listens on its own
          machine only, and whoever reaches it there may do everything. Its first key, for an admin,
          changes that.
        </p>
      )}
      <Shown of={all}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>There is no key yet.</Empty>
          ) : (
            <Table label="Keys" columns={COLUMNS}>
              {data.map((key) => (
                <Row key={key.id} of={key} onRevoke={() => setRevoking(key)} />
              ))}
            </Table>
          )
        }
      </Shown>
      {creating && (
        <CreateKey
          onMade={(key) => {
            setMade(key);
            all.reload();
          }}
          onClose={() => setCreating(false)}
        />
      )}
      {made && !creating && <Made made={made} onClose={() => setMade(undefined)} />}
      {revoking && (
        <Revoke of={revoking} onDone={all.reload} onClose={() => setRevoking(undefined)} />
      )}
    </>
  );
}

function Row({ of: key, onRevoke }: { of: ApiKey; onRevoke: () => void }) {
  const name = visible(key.name);
  return (
    <tr>
      <th scope="row" class="cut wide" title={name}>
        {name}
      </th>
      <td>{key.role}</td>
      <td class="id">{key.id}</td>
      <td class="time">
        <At at={key.created_at} />
      </td>
      <td class="time">
        {key.last_used_at ? <Ago at={key.last_used_at} /> : <span class="quiet">never</span>}
      </td>
      <td class="end">
        <Action
          label="Revoke…"
          about={name}
          kind="small"
          unless={forbidden("api_keys")}
          onClick={onRevoke}
        />
      </td>
    </tr>
  );
}

function Revoke(props: { of: ApiKey; onDone: () => void; onClose: () => void }) {
  const { of: key } = props;
  const act = async () => {
    await revokeApiKey(key.id);
    props.onDone();
  };
  return (
    <Dialog
      title={`Revoke ${visible(key.name)}?`}
      action="Revoke the key"
      grave
      act={act}
      onClose={props.onClose}
    >
      <p>From its next call on, this stops, and it cannot be taken back:</p>
      <ul class="truth">
        <li>{ROLES.find(({ role }) => role === key.role)?.loses}</li>
        <li>Browsers that are signed in with it are signed out.</li>
      </ul>
      <p>
        It was{" "}
        {key.last_used_at ? (
          <>
            last used <Ago at={key.last_used_at} />, to the minute
          </>
        ) : (
          "never used"
        )}
        .
      </p>
      {key.name === session.value?.name && (
        <p class="warn">
          <span aria-hidden="true">⚠</span> You are signed in with a key of this name. If it is this
          one, the page asks you for another.
        </p>
      )}
    </Dialog>
  );
}
