import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { useRead, write } from "@/api/read";
import { TextField } from "@/parts/forms/fields";
import { AccountForm, openDashboard } from "./account_form";

/** First administrator: needs the key that `windlass serve` prints. */
export default function Setup() {
  const [search] = useSearchParams();
  const setup = useRead("/api/v1/setup");
  const [key, setKey] = useState(search.get("key") ?? "");
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  if (setup.data?.needed === false)
    return (
      <main className="mx-auto mt-[12vh] max-w-sm p-4">
        <h1 className="mb-4">There is an administrator already</h1>
        <p>
          <Link className="link" href="/sign-in">
            Sign in
          </Link>
          , or ask an administrator for an invitation.
        </p>
      </main>
    );
  return (
    <AccountForm
      title="Create the first administrator"
      submit="Create and sign in"
      action={() =>
        write("post", "/api/v1/setup", { body: { key, name, password } }).then(openDashboard)
      }
    >
      {search.get("key") === null && (
        <TextField
          label="Setup key"
          hint="`windlass serve` prints it when it starts."
          required
          value={key}
          change={setKey}
        />
      )}
      <TextField
        label="Name or mail address"
        autoComplete="username"
        required
        value={name}
        change={setName}
      />
      <TextField
        label="Password"
        type="password"
        autoComplete="new-password"
        minLength={12}
        hint="12 characters or more."
        required
        value={password}
        change={setPassword}
      />
    </AccountForm>
  );
}
