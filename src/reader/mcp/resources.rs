//! Sessions as resources: those of this project, each by its id, and the end of its log.

use rmcp::ErrorData;
use rmcp::model::{ListResourcesResult, Resource, ResourceContents};
use serde_json::json;

use super::super::{Stage, ask};
use super::tools;
use session_core::ask::list::ListQuery;
use session_core::session::is_id;
use session_core::show::gate::harmless;

const SCHEME: &str = "session://";
/// So many are listed at a time.
const PAGE: usize = 100;

pub fn list(cursor: Option<&str>, stage: &mut Stage) -> Result<ListResourcesResult, ErrorData> {
    let start = cursor.map_or(Ok(0), str::parse::<usize>);
    let start = start.map_err(|_| ErrorData::invalid_params("this cursor is not ours", None))?;
    let now = stage.env.now();
    let mut sessions = stage
        .heard(ask::list::list(&ListQuery::default(), stage.ask()))
        .sessions;
    sessions.retain(|listed| is_id(&listed.session.id));
    let resource = |listed: &session_core::session::index::Listed| {
        let label = listed.session.format.label();
        let about = format!(
            "{label} session, {}, last active {} ago",
            listed.state(now).kind.name(),
            listed.age(now)
        );
        let name = harmless(&format!("{label}:{}", listed.handle()));
        let resource = Resource::new(format!("{SCHEME}{}", &*listed.session.id), name)
            .with_description(harmless(&about))
            .with_mime_type("text/plain");
        match listed.tally.title() {
            Some(title) => resource.with_title(harmless(title)),
            None => resource,
        }
    };
    let page = sessions.iter().skip(start).take(PAGE);
    let mut listed = ListResourcesResult::with_all_items(page.map(resource).collect());
    let end = start + listed.resources.len();
    listed.next_cursor = (end < sessions.len()).then(|| end.to_string());
    Ok(listed)
}

pub fn read(uri: &str, stage: &mut Stage) -> Result<ResourceContents, ErrorData> {
    let id = uri.strip_prefix(SCHEME).filter(|id| is_id(id));
    let unknown =
        |why: &str| ErrorData::resource_not_found(why.to_owned(), Some(json!({"uri": uri})));
    let Some(id) = id else {
        return Err(unknown(
            "a session is session://ID; resources/list has them",
        ));
    };
    let given = json!({"name": id}).as_object().cloned().unwrap_or_default();
    let answer = tools::answer("read_session", given, stage)?;
    match answer {
        Ok(text) => Ok(ResourceContents::text(text, uri)),
        Err(why) => Err(unknown(&why)),
    }
}
