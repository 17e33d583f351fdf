//! The report as JSON.

use std::fmt::{Display, Write};

use frazil::layout::{Field, FieldKind};

use super::{Finding, NodeReport, Report, RowReport};

impl Report {
    /// The report as JSON. IDs are decimal text, since JSON numbers lose their last digits.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut json = Json::default();
        json.object(|json| {
            json.key("layout").object(|json| {
                let layout = &self.layout;
                json.optional("name", layout.name.as_deref(), Json::text);
                json.key("fields").list(&layout.fields, field);
                json.key("epochMs").number(layout.epoch_ms);
                json.key("tickMs").number(layout.tick_ms);
                json.key("guessed").number(layout.guessed);
                json.optional("score", layout.score, Json::decimal);
                json.optional("reason", layout.reason.as_deref(), Json::text);
                json.optional("runnerUp", layout.runner_up.as_ref(), |json, (name, score)| {
                    json.object(|json| {
                        json.key("name").text(name);
                        json.key("score").decimal(*score);
                    });
                });
            });
            json.key("files").number(self.files);
            json.key("rows").number(self.rows);
            json.key("ids").number(self.ids);
            json.key("distinct").number(self.distinct);
            json.optional("fromMs", self.from_ms, Json::number);
            json.optional("toMs", self.to_ms, Json::number);
            json.key("order").text(self.order.name());
            json.key("nodes").object(|json| {
                json.key("inUse").number(self.nodes.in_use);
                json.key("of").number(self.nodes.of);
                json.key("top").list(&self.nodes.top, node);
            });
            json.key("days").list(&self.days, |json, day| {
                json.object(|json| {
                    json.key("day").text(&day.day);
                    json.key("ids").number(day.ids);
                });
            });
            json.key("findings").list(&self.findings, finding);
        });
        json.text
    }
}

fn field(json: &mut Json, field: &Field) {
    let kind = match field.kind {
        FieldKind::Time => "time",
        FieldKind::Node => "node",
        FieldKind::Clock => "clock",
        FieldKind::Sequence => "sequence",
    };
    json.object(|json| {
        json.key("kind").text(kind);
        json.optional("name", field.name.as_deref(), Json::text);
        json.key("bits").number(field.bits);
    });
}

fn node(json: &mut Json, node: &NodeReport) {
    json.object(|json| {
        json.key("node").number(node.node);
        json.key("ids").number(node.ids);
        json.key("fromMs").number(node.from_ms);
        json.key("toMs").number(node.to_ms);
        if !node.hosts.is_empty() {
            json.key("hosts").list(&node.hosts, |json, host| json.text(host));
        }
    });
}

fn finding(json: &mut Json, finding: &Finding) {
    json.object(|json| {
        json.key("kind").text(finding.kind.name());
        json.key("certainty").text(finding.certainty.name());
        json.optional("falseAlarmRate", finding.false_alarm_rate, Json::decimal);
        json.key("count").number(finding.count);
        json.optional("countRows", finding.count_rows, Json::number);
        json.optional("node", finding.node, Json::number);
        if !finding.hosts.is_empty() {
            json.key("hosts").list(&finding.hosts, |json, host| json.text(host));
        }
        json.optional("atMs", finding.at_ms, Json::number);
        json.optional("fromMs", finding.from_ms, Json::number);
        json.optional("toMs", finding.to_ms, Json::number);
        json.key("message").text(&finding.message);
        json.key("hint").text(&finding.hint);
        json.key("rows").list(&finding.rows, row);
    });
}

fn row(json: &mut Json, row: &RowReport) {
    json.object(|json| {
        json.optional("file", row.place.map(|place| place.0), Json::number);
        json.optional("line", row.place.map(|place| place.1), Json::number);
        json.key("id").text(&row.id);
        json.optional("host", row.host.as_deref(), Json::text);
    });
}

/// Writes JSON.
#[derive(Default)]
struct Json {
    text: String,
}

impl Json {
    /// A comma, unless a value or a list begins here.
    fn separate(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(['{', '[', ':']) {
            self.text.push(',');
        }
    }

    fn key(&mut self, key: &str) -> &mut Self {
        self.text(key);
        self.text.push(':');
        self
    }

    fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.separate();
        self.text.push('{');
        members(self);
        self.text.push('}');
    }

    fn list<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        self.separate();
        self.text.push('[');
        for one in items {
            item(self, one);
        }
        self.text.push(']');
    }

    fn optional<T>(&mut self, key: &str, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        if let Some(value) = value {
            write(self.key(key), value);
        }
    }

    fn number(&mut self, value: impl Display) {
        self.separate();
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{value}");
    }

    fn decimal(&mut self, value: f64) {
        // JSON has no infinity.
        let value = value.clamp(f64::MIN, f64::MAX);
        self.separate();
        let _ = write!(self.text, "{value:e}");
    }

    fn text(&mut self, value: &str) {
        self.separate();
        self.text.push('"');
        for char in value.chars() {
            match char {
                '"' | '\\' => self.text.extend(['\\', char]),
                '\0'..='\x1f' | '\x7f' | '\u{2028}' | '\u{2029}' => {
                    let _ = write!(self.text, "\\u{:04x}", u32::from(char));
                }
                _ => self.text.push(char),
            }
        }
        self.text.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_separated() {
        let mut json = Json::default();
        json.list(&["a\"b", "\u{1}", "{", "é:"], |json, text| json.text(text));
        assert_eq!(json.text, r#"["a\"b","\u0001","{","é:"]"#);
    }
}
